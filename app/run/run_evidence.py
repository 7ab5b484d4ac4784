"""Turn the records of a run into evidence, and compare it with what static analysis predicted.

Records and evidence share their types (`provenance`), which were validated at the sandbox's edge.
What is left to do here is to say of each fault that it was observed, and to add what only the host
knows: the catalogue of messages.
"""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from dataclasses import fields, replace
from typing import TypeVar

from analyzers.evidence import (
    Evidence,
    GraphReuse,
    InplaceChange,
    KnownError,
    MissingGraph,
    SilentFault,
)
from analyzers.messages import catalogue, entry_of
from analyzers.request.traceback_only import named_in
from provenance import CodeLine
from sandbox.records import Failed, Record, Silent, Trace

Fault = TypeVar("Fault", GraphReuse, InplaceChange, MissingGraph, SilentFault)
_REFUSED = "The run here let it pass, as older versions of torch do; today's refuses it."


def observed_evidence(trace: Trace) -> tuple[Evidence, ...]:
    """Return the evidence in a trace: what raised first, then the silent faults. If a backward call
    met a changed tensor in a graph that an earlier call freed, the freed graph is the failure.
    """
    raised: list[Evidence] = []
    if trace.reuse is not None:
        reuse = _observed(GraphReuse, trace.reuse)
        raised.append(replace(reuse, path=trace.path.bindings) if trace.path is not None else reuse)
    elif trace.inplace is not None:
        raised.append(_observed(InplaceChange, trace.inplace))
    if (
        trace.missing is not None and trace.missing.how != "unscaled"
    ):  # nothing more is known of that one
        missing = _observed(MissingGraph, trace.missing)
        raised.append(replace(missing, lost_by=trace.missing.how))
    if not raised and not trace.silent:
        raised += _known_error(trace.failed) if trace.failed is not None else _let_pass(trace)
    return (*raised, *map(silent_fault, trace.silent))


def silent_fault(record: Silent) -> SilentFault:
    """Return the record of a silent fault as evidence."""
    return _observed(SilentFault, record)


def _observed(kind: type[Fault], record: Record) -> Fault:
    """Return a record as observed evidence: the fields that both have, by their names."""
    names = {field.name for field in fields(kind)} & type(record).model_fields.keys() - {"how"}
    return kind(how="observed", **{name: getattr(record, name) for name in names})


def _let_pass(trace: Trace) -> Iterator[KnownError]:
    """Yield what the installed torch refuses and the sandbox let pass, as older versions do."""
    passed = {assumed.name for assumed in trace.assumed if assumed.kind == "api"}
    for entry in catalogue().values():
        if entry.let_pass in passed and entry.kind is not None:
            yield KnownError(entry.id, entry.kind, "observed", details=_REFUSED)


def _known_error(failed: Failed) -> Iterator[KnownError]:
    """Yield the error that ended the run, if its message alone identifies the kind of fault."""
    entry = entry_of(failed.message, failed.frames[-1].code if failed.frames else "")
    if entry is None or not entry.names_cause or entry.kind is None:
        return
    stack = tuple(
        CodeLine(f.file, f.line, f.function) for f in failed.frames if f.line and not f.library
    )
    at = stack[-1] if stack else None
    names = tuple(failed.parameters) or named_in(failed.message)
    yield KnownError(entry.id, entry.kind, "observed", failed.message, at, stack, names)


def confirmed_evidence(
    observed: Sequence[Evidence], predicted: Sequence[Evidence]
) -> tuple[Evidence, ...]:
    """Return what the run observed, marked `confirmed` where static analysis predicted it. The
    execution wins: what only static analysis predicted is dropped.
    """
    return tuple(
        _confirmed(piece, next((p for p in predicted if _is_same_fault(piece, p)), None))
        for piece in observed
    )


def _confirmed(piece: Evidence, predicted: Evidence | None) -> Evidence:
    """Return the observed evidence, marked `confirmed` if it was predicted. A silent fault seen on
    no line and under no name takes those of the prediction.
    """
    if isinstance(piece, SilentFault) and isinstance(predicted, SilentFault):
        at, holders = piece.at or predicted.at, piece.holders or predicted.holders
        return replace(piece, how="confirmed", at=at, holders=holders)
    return replace(piece, how="confirmed") if predicted is not None else piece


def _is_same_fault(one: Evidence, other: Evidence) -> bool:
    if isinstance(one, GraphReuse) and isinstance(other, GraphReuse):
        return one.reached.at.line == other.reached.at.line
    if isinstance(one, SilentFault) and isinstance(other, SilentFault):
        # What a run saw as a whole (a parameter that never learnt) happened on no line.
        return one.kind == other.kind and _line(one) in (None, _line(other))
    return type(one) is type(other) and _line(one) == _line(other)


def _line(piece: Evidence) -> int | None:
    at = None if isinstance(piece, GraphReuse) else piece.at
    return at.line if at is not None else None
