"""Convert what a run recorded into the evidence that the analyses use."""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from dataclasses import replace

from analyzers import evidence as ev
from analyzers.messages import catalogue, entry_of
from analyzers.request.traceback_only import named_in
from sandbox import records as rec

_REFUSED = "The run here let it pass, as older versions of torch do; today's refuses it."


def observed(trace: rec.Trace) -> tuple[ev.Evidence, ...]:
    """Return the evidence in a trace: what raised first, then the silent faults. If a backward call
    met a changed tensor in a graph that an earlier call freed, the freed graph is the failure.
    """
    raised: list[ev.Evidence] = []
    if trace.reuse is not None:
        raised.append(_reuse(trace.reuse, trace.path))
    elif trace.inplace is not None:
        raised.append(_inplace(trace.inplace))
    if (
        trace.missing is not None and trace.missing.how != "unscaled"
    ):  # nothing more is known of that one
        raised.append(_missing(trace.missing))
    if not raised and not trace.silent:
        raised += _known(trace.failed) if trace.failed is not None else _let_pass(trace)
    return (*raised, *(silent(record) for record in trace.silent))


def _let_pass(trace: rec.Trace) -> Iterator[ev.KnownError]:
    """Yield what the installed torch refuses and the sandbox let pass, as older versions do."""
    passed = {assumed.name for assumed in trace.assumed if assumed.kind == "api"}
    for entry in catalogue().values():
        if entry.let_pass in passed and entry.kind is not None:
            yield ev.KnownError(entry.id, entry.kind, "observed", details=_REFUSED)


def _known(failed: rec.Failed) -> Iterator[ev.KnownError]:
    """Yield the error that ended the run, if its message alone identifies the kind of fault."""
    entry = entry_of(failed.message)
    if entry is None or not entry.names_cause or entry.kind is None:
        return
    stack = tuple(
        ev.Place(f.file, f.line, f.function) for f in failed.frames if f.line and not f.library
    )
    at = stack[-1] if stack else None
    names = tuple(failed.parameters) or named_in(failed.message)
    yield ev.KnownError(entry.id, entry.kind, "observed", failed.message, at, stack, names)


def merged(
    observed: Sequence[ev.Evidence], predicted: Sequence[ev.Evidence]
) -> tuple[ev.Evidence, ...]:
    """Return what the run observed, marked `confirmed` where static analysis predicted it. The
    execution wins: what only static analysis predicted is dropped.
    """
    return tuple(
        _confirmed(piece, next((p for p in predicted if _agree(piece, p)), None))
        for piece in observed
    )


def _confirmed(piece: ev.Evidence, predicted: ev.Evidence | None) -> ev.Evidence:
    """Return the observed evidence, marked `confirmed` if it was predicted. A silent fault seen on
    no line and under no name takes those of the prediction.
    """
    if isinstance(piece, ev.SilentFault) and isinstance(predicted, ev.SilentFault):
        at, holders = piece.at or predicted.at, piece.holders or predicted.holders
        return replace(piece, how="confirmed", at=at, holders=holders)
    return replace(piece, how="confirmed") if predicted is not None else piece


def _agree(one: ev.Evidence, other: ev.Evidence) -> bool:
    if isinstance(one, ev.GraphReuse) and isinstance(other, ev.GraphReuse):
        return one.reached.at.line == other.reached.at.line
    if isinstance(one, ev.SilentFault) and isinstance(other, ev.SilentFault):
        # What a run saw as a whole (a parameter that never learnt) happened on no line.
        return one.kind == other.kind and _line(one) in (None, _line(other))
    return type(one) is type(other) and _line(one) == _line(other)


def _line(piece: ev.Evidence) -> int | None:
    at = None if isinstance(piece, ev.GraphReuse) else piece.at
    return at.line if at is not None else None


def _place(place: rec.Place) -> ev.Place:
    return ev.Place(place.file, place.line, place.function, place.frame, place.column)


def _maybe(place: rec.Place | None) -> ev.Place | None:
    return _place(place) if place is not None else None


def _visit(visit: rec.Visit) -> ev.BackwardCall:
    return ev.BackwardCall(
        at=_place(visit.at),
        n=visit.n,
        stack=tuple(_place(place) for place in visit.stack),
        library=tuple(visit.library),
        iteration=visit.iteration,
        kind=visit.kind,
        retain=visit.retain,
        create_graph=visit.create_graph,
        root=tuple(visit.root),
        later=visit.later,
    )


def _node(node: rec.NodeAt) -> ev.Node:
    return ev.Node(node.op, _maybe(node.at), node.library, node.made_after)


def _holders(holders: Sequence[rec.Holder]) -> tuple[ev.Holder, ...]:
    return tuple(ev.Holder(h.path, h.scope, h.kind, h.container, h.when, h.frame) for h in holders)


def _join(join: rec.Join) -> ev.StaleEdge:
    return ev.StaleEdge(
        old=_node(join.old),
        new=_node(join.new) if join.new is not None else None,
        raising=_node(join.raising) if join.raising is not None else None,
        freed=join.freed,
        holders=_holders(join.holders),
        shape=tuple(join.shape),
        freed_nodes=join.freed_nodes,
        stepped=join.stepped,
        renewed=join.renewed,
        rebound=join.rebound,
    )


KIND_DEPTH = 6  # deeper than the tracer records: anything below is forged


def _kind(kind: rec.Kind, depth: int = KIND_DEPTH) -> ev.ValueShape:
    below = kind.parts if depth else []
    return ev.ValueShape(
        kind.kind,
        kind.name,
        kind.graph,
        kind.leaf,
        kind.frozen,
        kind.maxlen,
        kind.size,
        tuple((part.key, _kind(part.kind, depth - 1)) for part in below),
    )


def _hop(hop: rec.Hop) -> ev.Binding:
    return ev.Binding(
        at=_place(hop.at),
        how=hop.how,
        name=hop.name,
        kind=_kind(hop.kind),
        paths=tuple(hop.paths),
        carries=tuple(hop.carries),
        none_before=hop.none_before,
    )


def _reuse(record: rec.Reuse, path: rec.Path | None) -> ev.GraphReuse:
    return ev.GraphReuse(
        freed=_visit(record.freed),
        reached=_visit(record.reached),
        how="observed",
        message=record.message,
        same_root=record.same_root,
        remade=record.remade,
        joins=tuple(_join(join) for join in record.joins),
        engine=record.engine,
        engine_class=record.engine_class,
        path=tuple(_hop(hop) for hop in path.hops) if path is not None else (),
    )


def _inplace(record: rec.Inplace) -> ev.InplaceChange:
    return ev.InplaceChange(
        kind=record.kind,
        how="observed",
        message=record.message,
        reached=_visit(record.reached) if record.reached is not None else None,
        at=_maybe(record.at),
        node=_node(record.node) if record.node is not None else None,
        holders=_holders(record.holders),
        parameter=record.parameter,
        is_parameter=record.is_parameter,
        shape=tuple(record.shape),
        changes=tuple(
            ev.Change(_maybe(c.at), c.op, c.library, c.version, c.after) for c in record.changes
        ),
    )


def _missing(record: rec.Missing) -> ev.MissingGraph:
    return ev.MissingGraph(
        how="observed",
        message=record.message,
        at=_maybe(record.at),
        stack=tuple(_place(place) for place in record.stack),
        holders=_holders(record.holders),
        ended_at=_maybe(record.ended_at),
        ended_stack=tuple(_place(place) for place in record.ended_stack),
        lost_by=record.how,
        op=record.op,
        shape=tuple(record.shape),
    )


def silent(record: rec.Silent) -> ev.SilentFault:
    """Convert the record of a silent fault into evidence."""
    return ev.SilentFault(
        kind=record.kind,
        how="observed",
        at=_maybe(record.at),
        holders=_holders(record.holders),
        params=tuple(record.params),
        figures=tuple(record.figures),
        visit=_visit(record.visit) if record.visit is not None else None,
        detail=record.detail,
        gradient=record.gradient,
        doubtful=record.doubtful,
        instead=tuple(record.instead),
        taken=_maybe(record.taken),
    )
