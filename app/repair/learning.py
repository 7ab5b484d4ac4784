"""Compare which parameters a patched run trains with those that the
original's mathematics trains.
"""

from __future__ import annotations

from collections import defaultdict
from collections.abc import Mapping, Set

from analyzers.explain.bootstrap_targets import OTHERS
from analyzers.explain.kept_parameters import UNHELD
from analyzers.explain.listed import counted
from analyzers.repair.engine.operations import WRONG
from analyzers.repair.reschedule.added_step import UNSTEPPED
from app.repair.effects import by_optimizer, unread
from app.repair.late_gradients import (
    carries,
    inputs_in,
    loses_gradients_late,
    named,
    rounding,
    with_gradient,
)
from app.schemas import Check
from sandbox.records import Trace

UNFED = "unfed-parameters"


def learns(
    reference: Trace | None,
    candidate: Trace | None,
    original: Trace | None = None,
    moving: Trace | None = None,
    spared: Set[str] = frozenset(),
    cut_off: Set[str] = frozenset(),
) -> Check:
    """Check that no parameter loses its gradient and that none gains one which the original's
    mathematics did not give it, optimizer by optimizer.

    Without a reference, the `original`'s own calls before it failed decide who should learn.
    Parameters that its run showed to be at fault may gain a gradient, and those that it never gave
    one must. A gradient of zeros counts only if the patch's own run, with its parameters `moving`,
    has another. Parameters in `spared` are not what the patch is for; those in `cut_off` the script
    itself cuts off.
    """
    if candidate is None:
        return _failed("the run left no records")
    if original is not None and _has_no_backward(original) and _has_no_backward(candidate):
        return _unknown("no backward pass runs, before or with the patch")
    names = {p.id: p.name or f"parameter {p.id}" for p in candidate.parameters}
    if hungry := _hungry(candidate, moving, original, spared):
        return _failed(f"no gradient but zeros: {named(hungry, names)}")
    if given_up := _given_up(reference, candidate, moving):
        return _failed(f"no gradient: {named(given_up, names)}")
    given = _fed(candidate)
    wanted = _fed(reference) if reference is not None else {}
    if reference is None or not wanted or _cancels(reference):
        return _without_reference(candidate, moving, original, names, cut_off)
    of_targets = {p for p, name in names.items() if name in _of_targets(original)}
    foreign = {p for p, name in names.items() if name in _reported(original, "uncleared-gradients")}
    # leftovers of other losses are gone; its own gradient may be zero
    foreign &= _received(candidate)
    lost = _lost(wanted, given, reference) - of_targets - foreign
    if any(r.kind in (UNHELD, UNSTEPPED) for r in (original.silent if original else [])):
        lost -= set().union(*given.values())  # another optimizer steps it now
    fed = _may_gain(reference, original, names)
    gained = {p for o, params in given.items() if o in wanted for p in params - wanted[o] - fed}
    if lost:
        return _failed(f"no gradient any more: {named(lost, names)}")
    if gained:
        return _failed(f"a gradient from elsewhere: {named(gained, names)}")
    if late := loses_gradients_late(reference, candidate, foreign | of_targets):
        return _failed(late) if not carries(reference) else _unknown(late)
    count = len({p for o in given for p in given[o] & (wanted.get(o, set()) | fed)})
    return Check(
        name="learns",
        status="passed",
        detail=f"{count} of {counted(count, 'parameter gets', 'parameters get')} a gradient",
    )


def feeds_at_fault(reference: Trace | None, original: Trace | None) -> bool:
    """Return True if the reference gives a gradient to all that lack one in the original: it keeps
    the graph that was missing.
    """
    reported = _reported(original, UNFED)
    return bool(reported) and reported <= _fed_names(reference)


def _lost(
    wanted: Mapping[int, Set[int]], given: Mapping[int, Set[int]], reference: Trace
) -> set[int]:
    """Return the parameters, by id, that get a gradient in the reference and none from the patch,
    but for those whose gradient nobody reads or is rounding.
    """
    lost = {p for o, params in wanted.items() for p in params - given.get(o, set())}
    inputs = inputs_in(reference)
    if any(inputs & params for params in given.values()):
        lost -= inputs  # those of one name count once, those without a name each time
    return lost - unread(reference) - rounding(reference)


def _may_gain(reference: Trace, original: Trace | None, names: Mapping[int, str]) -> set[int]:
    """Return the parameters, by id, to which a patch may give a gradient that the reference lacks:
    those at fault.
    """
    silent = original.silent if original is not None else []
    reported = _reported(original) | {p.name for p in reference.parameters if p.numbers}
    reported |= {name for r in silent for name in (*r.instead, *r.uncalled)}
    lists = tuple(f"{name.partition('[')[0]}." for name in reported if "[" in name)  # modules now
    owned = {f"self.{name.partition('.')[2]}" for name in reported if "." in name}
    reported |= owned | {f"self.{name}" for name in reported}  # to a method of what has it
    ends = {end for name in reported if "." in (end := name.partition(".")[2])}  # by any root
    heads = (*lists, *(end for path in lists if (end := path.partition(".")[2])))
    fed = {
        p
        for p, name in names.items()
        for known in [(name, name.partition(".")[2])]
        if name in reported or not ends.isdisjoint(known) or any(k.startswith(heads) for k in known)
    }
    if any(r.kind in (UNHELD, UNFED) for r in silent):  # they had other names, or zeros
        fed |= _received(reference) - set().union(*_fed(reference).values())
    if any(r.kind == WRONG for r in silent):
        fed |= names.keys()
    if any(r.kind == "overwritten-gradient" for r in silent):
        fed |= _received(reference)  # a gradient may be lost before the step
    return fed


def _has_no_backward(trace: Trace) -> bool:
    """Return True if a run came to its end without a backward call, as an evaluation does."""
    ended = trace.ended
    return ended is not None and ended.reason == "finished" and not ended.backwards


def _cancels(reference: Trace) -> bool:
    """Return True if backward calls reach parameters and give them nothing but zeros. At fixed
    parameters, `exp(log_prob - old)` has no gradient if `old` keeps its graph.
    """
    return bool(_received(reference)) and not any(_fed(reference).values())


def _failed(detail: str) -> Check:
    return Check(name="learns", status="failed", detail=detail)


def _unknown(detail: str) -> Check:
    return Check(name="learns", status="not_run", detail=detail)


def _reported(original: Trace | None, kind: str = "") -> set[str]:
    """Return the parameters that the original's run showed to be at fault, of
    one kind or of any.
    """
    records = original.silent if original is not None else []
    return {name for r in records if r.kind == (kind or r.kind) for name in r.params}


def _of_targets(original: Trace | None) -> set[str]:
    """Return the parameters of networks that a loss trained only through its target: they should
    follow another network instead.
    """
    records = original.silent if original is not None else []
    return {name for r in records if r.detail == OTHERS for name in r.params}


def _hungry(
    candidate: Trace, moving: Trace | None, original: Trace | None, spared: Set[str]
) -> set[int]:
    """Return the parameters that got no gradient in the original and get only zeros in the patch. A
    parameter may be exempt: if another one of its module gets a gradient, it may have no influence
    on the loss.
    """
    fed = _fed_names(candidate) | _fed_names(moving)
    reported = _reported(original, UNFED) | _reported(original, "cleared-gradients")
    reported -= spared
    alive = {_module(name) for name in reported & fed}
    return {
        p.id
        for p in candidate.parameters
        if p.name in reported - fed and p.optimizer is not None and _module(p.name) not in alive
    }


def _given_up(reference: Trace | None, candidate: Trace, moving: Trace | None) -> set[int]:
    """Return the parameters that reach the loss only through values which the reference turns into
    plain numbers (NumPy). If the patch gives none of them a gradient although their optimizers
    step, their path to the loss is lost.
    """
    made_of: dict[int, set[str]] = defaultdict(set)
    for p in reference.parameters if reference is not None else []:
        for number in p.numbers:
            made_of[number].add(p.name)
    fed = _fed_names(candidate) | _fed_names(moving)
    lost = {name for names in made_of.values() if names.isdisjoint(fed) for name in names}
    stepped = by_optimizer(candidate).keys()
    return {p.id for p in candidate.parameters if p.name in lost and p.optimizer in stepped}


def _module(name: str) -> str:
    return name.rpartition(".")[0] or name


def _fed_names(trace: Trace | None) -> set[str]:
    if trace is None:
        return set()
    fed = {p for params in _fed(trace).values() for p in params}
    return {p.name for p in trace.parameters if p.id in fed}


def _without_reference(
    candidate: Trace,
    moving: Trace | None,
    original: Trace | None,
    names: Mapping[int, str],
    cut_off: Set[str] = frozenset(),
) -> Check:
    """Check who learns if the original's own gradients are not available.

    Every parameter in an optimizer must get a gradient, unless the run excuses it, and every one
    that the original's calls reached before it failed. If it failed because it asked for the
    gradient of something that its loss does not use, only the latter count. If it reached none, or
    if gradients of gradients are taken, a parameter is exempt when another one of its module gets a
    gradient: an added constant has no derivative.
    """
    excused = {p.name for p in (moving or candidate).parameters if p.excused}
    owned = {p.id for p in candidate.parameters if p.optimizer is not None and p.requires_grad}
    owned -= {p for p, name in names.items() if name in excused}
    wanted = _received(original) if original is not None else set()
    if original is not None and owned:  # a copy that was a leaf may be none any more
        wanted -= {p.id for p in original.parameters if p.optimizer is None} - set(names)
    fed = {p for params in _fed(candidate).values() for p in params}
    alive = _fed_names(candidate) | _fed_names(moving)
    fed |= {p for p, name in names.items() if name in alive}
    of_targets = _flat_names(original)  # what a script clears after its own updates proves nothing
    flat = {p for p in _flat(candidate) - fed if names.get(p, "") not in of_targets}
    modules = {_module(name) for name in alive}
    flat = {p for p in flat if _module(names.get(p, "")) not in modules}
    missing = original.missing if original is not None else None
    if missing is None or missing.how != "unused":
        wanted |= owned
        if owned:  # what no optimizer trains may be flat: the input of a penalty
            flat &= owned
    elif not wanted:
        wanted = {p for p in owned if p in fed or _module(names[p]) not in modules}
    if any(record.call.create_graph for record in candidate.backwards):
        wanted = {p for p in wanted if p in fed or _module(names[p]) not in modules}
    fed |= _received(candidate) - flat
    if not wanted and not fed:
        return _unknown("no parameter was seen")
    lost = wanted - fed
    if lost and lost <= _before_their_step(candidate):
        return _unknown("the run ended before an optimizer's first step")
    if lost and fed and {names.get(p, "") for p in lost} <= cut_off:
        return _unknown(f"no gradient, for a cut that was there before: {named(lost, names)}")
    if lost:
        what = "no gradient but zeros" if lost <= flat else "no gradient"
        return _failed(f"{what}: {named(lost, names)}")
    words = ("parameter gets", "parameters get") if fed & owned else ("leaf gets", "leaves get")
    learning = counted(len(fed & owned or fed), *words)
    return Check(name="learns", status="passed", detail=f"{learning} a gradient")


def _before_their_step(trace: Trace) -> set[int]:
    """Return the parameters of optimizers that take no step before the run is ended."""
    if trace.ended is not None and trace.ended.reason == "finished":
        return set()
    stepped = by_optimizer(trace)
    return {p.id for p in trace.parameters if p.optimizer not in (None, *stepped)}


def _flat(trace: Trace) -> set[int]:
    """Return the parameters whose gradient was zero whenever it was seen."""
    given = [g for step in trace.steps for g in step.gradients if not g.none]
    return {g.param for g in given} - {g.param for g in given if g.norm > 0}


def _flat_names(trace: Trace | None) -> set[str]:
    if trace is None:
        return set()
    flat = _flat(trace)
    return {p.name for p in trace.parameters if p.id in flat and p.name}


def _received(trace: Trace) -> set[int]:
    return {p for record in trace.backwards if record.outcome == "ok" for p in record.received}


def _fed(trace: Trace) -> dict[int, set[int]]:
    """Return, for each optimizer, the parameters that ever stepped with a non-zero gradient. A
    script without optimizers is judged by the gradients at its end.
    """
    return {
        optimizer: {param for step in steps for param in with_gradient(step)}
        for optimizer, steps in by_optimizer(trace).items()
    }
