"""What a patched run must show. Each check compares traces that the host itself collected."""

from __future__ import annotations

from collections import Counter, defaultdict
from collections.abc import Iterable, Mapping, Set
from itertools import pairwise, takewhile

from analyzers.linediff import changed_lines
from app.schemas import Check
from sandbox.protocol import RunResult
from sandbox.records import Backward, Gradient, Step, Trace

TOLERANCE = 1e-4  # relative to the gradient's norm: sums in another order differ by less
MIN_CALLS_TO_SEE_GROWTH = 5
MAX_CHANGED_LINES = 40
MIN_SETTLED = 3  # steps behind the first that must agree where the first may differ


def runs(result: RunResult, failing_call: int, silent: Set[str] = frozenset()) -> Check:
    """The patched script ends, or goes on at least three backward calls past the failure, and
    none of the silent faults that the original showed is left."""
    calls = len_backwards(result)
    left = {record.kind for record in result.trace.silent} & silent if result.trace else set()
    if left:
        return Check(name="runs", status="failed", detail=f"still shows {', '.join(sorted(left))}")
    if result.status == "finished":
        return Check(
            name="runs", status="passed", detail=f"ended by itself, {calls} backward calls"
        )
    if result.status in ("stopped", "timed_out") and calls >= failing_call + 3:
        beyond = calls - failing_call
        return Check(
            name="runs", status="passed", detail=f"{beyond} backward calls past the failure"
        )
    return Check(name="runs", status="failed", detail=ending(result))


def ending(result: RunResult) -> str:
    """How a run ended, in a few words."""
    if result.raised is not None:
        first, _, _ = result.raised.message.partition("\n")
        return f"{result.raised.type}: {first}"
    return result.limit or result.reason or result.status.replace("_", " ")


def len_backwards(result: RunResult) -> int:
    """How many backward calls a run completed."""
    trace = result.trace
    if trace is None:
        return 0
    if trace.ended is not None:
        last = trace.backwards[-1].outcome if trace.backwards else "ok"
        return max(trace.ended.backwards - (last == "raised"), 0)
    return sum(1 for record in trace.backwards if record.outcome == "ok")


def learns(
    reference: Trace | None,
    candidate: Trace | None,
    original: Trace | None = None,
    *,
    at_every_step: bool = True,
    starved: Set[str] = frozenset(),
    unused: bool = False,
) -> Check:
    """No parameter loses its gradient, and none gains one that the original's mathematics did
    not give it, optimizer by optimizer; with `at_every_step`, in no step at all. (What a state
    carries from before a boundary, a learnt first state say, may learn in the first step only.)
    Without a reference, the `original`'s own calls before it failed say who should learn.
    The `starved` (names) are to gain a gradient; with `unused` some are known to have none.
    """
    if candidate is None:
        return Check(name="learns", status="failed", detail="the run left no records")
    given = _fed(candidate)
    if reference is None or not (wanted := _fed(reference)):
        return _learns_without_reference(candidate, given, original, unused)
    names = {p.id: p.name or f"parameter {p.id}" for p in candidate.parameters}
    lost = {p for o, params in wanted.items() for p in params - given.get(o, set())}
    fed = {p for p, name in names.items() if name in starved}
    gained = {p for o, params in given.items() if o in wanted for p in params - wanted[o] - fed}
    if lost:
        return Check(
            name="learns", status="failed", detail=f"no gradient any more: {_some(lost, names)}"
        )
    if gained:
        return Check(
            name="learns",
            status="failed",
            detail=f"a gradient from elsewhere: {_some(gained, names)}",
        )
    if at_every_step and (late := _lost_later(reference, candidate)):
        step, params = late
        return Check(
            name="learns",
            status="failed",
            detail=f"no gradient from step {step} on: {_some(params, names)}",
        )
    count = len({p for params in wanted.values() for p in params})
    return Check(
        name="learns", status="passed", detail=f"{count} of {count} parameters get a gradient"
    )


def _lost_later(reference: Trace, candidate: Trace) -> tuple[int, set[int]] | None:
    """The first step from which on parameters miss a gradient that the reference gives them. One
    step alone says little where it follows others: a gradient may happen to be zero."""
    fed: dict[int, list[tuple[int, bool]]] = defaultdict(list)
    for ours, theirs in _pairs(reference, candidate, False):
        if ours.gradients and theirs.gradients:
            kept = _with_gradient(theirs)
            for param in _with_gradient(ours):
                fed[param].append((ours.n, param in kept))
    lost: dict[int, set[int]] = defaultdict(set)
    for param, steps in fed.items():
        tail = list(takewhile(lambda step: not step[1], reversed(steps)))
        if len(tail) > 1 or (tail and len(steps) <= 2):
            lost[tail[-1][0]].add(param)
    return (min(lost), lost[min(lost)]) if lost else None


def _with_gradient(step: Step) -> set[int]:
    return {g.param for g in step.gradients if not g.none and g.norm > 0}


def _learns_without_reference(
    candidate: Trace, given: Mapping[int, set[int]], original: Trace | None, unused: bool
) -> Check:
    """Where the original's own gradients cannot be had: every parameter in an optimizer, and
    every one that the original's calls reached before it failed. With `unused`, those alone."""
    owned = {p.id for p in candidate.parameters if p.optimizer is not None and p.requires_grad}
    wanted = _received(original) if original is not None else set()
    if original is not None and owned:  # a copy that was a leaf may be none any more
        wanted -= {p.id for p in original.parameters if p.optimizer is None} - _met(candidate)
    if not (unused and wanted):
        wanted |= owned
    fed = {p for params in given.values() for p in params} | _received(candidate)
    if not wanted and not fed:
        return Check(name="learns", status="not_run", detail="no parameter was seen")
    names = {p.id: p.name or f"parameter {p.id}" for p in candidate.parameters}
    if missing := wanted - fed:
        return Check(name="learns", status="failed", detail=f"no gradient: {_some(missing, names)}")
    return Check(name="learns", status="passed", detail=f"{len(fed)} parameters get a gradient")


def _met(trace: Trace) -> set[int]:
    return {p.id for p in trace.parameters}


def _received(trace: Trace) -> set[int]:
    return {p for record in trace.backwards if record.outcome == "ok" for p in record.received}


def _some(params: Iterable[int], names: Mapping[int, str]) -> str:
    listed = sorted(names.get(p, str(p)) for p in params)
    return ", ".join(listed[:4]) + (f" and {len(listed) - 4} more" if len(listed) > 4 else "")


def _fed(trace: Trace) -> dict[int, set[int]]:
    """For each optimizer, the parameters that ever stepped with a gradient that is not zero. A
    script without optimizers is judged by the gradients at its end."""
    fed: dict[int, set[int]] = defaultdict(set)
    steps = [s for s in trace.steps if s.optimizer >= 0] or trace.steps
    for step in steps:
        fed[step.optimizer] |= _with_gradient(step)
    return fed


def same_gradient(
    reference: Trace | None,
    candidate: Trace | None,
    *,
    first_only: bool = False,
    settling: bool = False,
) -> Check:
    """Gradients at each step equal the reference's: the original at fixed parameters, with every
    graph kept. `first_only` looks at the first step of each optimizer (up to the boundary);
    `settling` passes over it, where enough steps follow: what a script writes into weights by
    itself (a clamp, say) is not held fixed, and lies on one side of a moved forward or the other.
    """
    if reference is None:
        return _not_compared("the original could not be run to its gradients")
    if candidate is None:
        return _not_compared("the patched script could not be run at fixed parameters")
    pairs = list(_pairs(reference, candidate, first_only))
    if not pairs:
        return _not_compared("no step was seen in both runs")
    if settling and (later := _settled(pairs)):
        pairs = later
    worst = 0.0
    for ours, theirs in pairs:
        difference = _difference(ours, theirs)
        if difference > TOLERANCE:
            return Check(
                name="same_gradient",
                status="failed",
                detail=f"step {ours.n}: gradients differ by {difference:.1e} of their norm",
            )
        worst = max(worst, difference)
    where = "before the boundary" if first_only else f"over {len(pairs)} steps"
    return Check(
        name="same_gradient",
        status="passed",
        detail=f"equal within {max(worst, 1e-7):.0e} {where} (reference: the original at fixed "
        "parameters, every graph kept)",
    )


def _settled(pairs: list[tuple[Step, Step]]) -> list[tuple[Step, Step]]:
    """The pairs without the first of each optimizer; none where too few would be left."""
    first = {ours.optimizer: ours for ours, _ in reversed(pairs)}
    later = [(ours, theirs) for ours, theirs in pairs if ours is not first[ours.optimizer]]
    counts = Counter(ours.optimizer for ours, _ in later)
    enough = all(counts[optimizer] >= MIN_SETTLED for optimizer in first)
    return later if enough else []


def one_walk_a_step(reference: Trace | None) -> bool:
    """Whether no line walks twice before the first step: then a state that is cut between walks
    keeps the first step's gradients."""
    if reference is None or not reference.steps:
        return True
    first = next((s for s in reference.steps if s.optimizer >= 0), reference.steps[0])
    lines = [(b.visit.at.file, b.visit.at.line) for b in reference.backwards[: first.after]]
    return len(lines) == len(set(lines))


def _not_compared(why: str) -> Check:
    return Check(name="same_gradient", status="not_run", detail=why)


def _pairs(one: Trace, other: Trace, first_only: bool) -> Iterable[tuple[Step, Step]]:
    """The k-th step of each optimizer in both runs, where both carry gradients."""
    left, right = _by_optimizer(one), _by_optimizer(other)
    for optimizer in left:
        count = 1 if first_only else None
        for ours, theirs in zip(left[optimizer][:count], right.get(optimizer, []), strict=False):
            if ours.gradients or theirs.gradients:
                yield ours, theirs


def _by_optimizer(trace: Trace) -> dict[int, list[Step]]:
    steps: dict[int, list[Step]] = defaultdict(list)
    chosen = [s for s in trace.steps if s.optimizer >= 0] or trace.steps
    for step in chosen:
        steps[step.optimizer].append(step)
    return steps


def _difference(one: Step, other: Step) -> float:
    """The largest distance between two gradients of one parameter, as a share of the norm."""
    left = {g.param: g for g in one.gradients if not g.none}
    right = {g.param: g for g in other.gradients if not g.none}
    worst = 0.0
    scale = max((g.norm for g in (*left.values(), *right.values())), default=0.0)
    for param in left.keys() | right.keys():
        worst = max(worst, _distance(left.get(param), right.get(param), scale))
    return worst


def _distance(one: Gradient | None, other: Gradient | None, scale: float) -> float:
    zeros = Gradient(param=0, norm=0.0, projections=[0.0] * 4)
    a, b = one or zeros, other or zeros
    floor = max(a.norm, b.norm, 1e-3 * scale, 1e-12)
    gaps = [abs(x - y) for x, y in zip(a.projections, b.projections, strict=False)]
    return max([abs(a.norm - b.norm), *gaps]) / floor


def fresh(candidate: Trace | None) -> Check:
    """No step walks a graph made before the last step from parameters that it changed."""
    if candidate is None or not candidate.backwards:
        return Check(name="fresh", status="not_run", detail="no backward call was seen")
    stale = [record for record in candidate.backwards if record.stale]
    if stale:
        line = stale[0].visit.at.line
        return Check(
            name="fresh",
            status="failed",
            detail=f"line {line} walks a graph made before the last step changed its parameters",
        )
    return Check(name="fresh", status="passed", detail="each walk was made from current parameters")


def bounded(candidate: Trace | None) -> Check:
    """The graph behind a backward does not grow with the number of calls from its line."""
    if candidate is None:
        return Check(name="bounded", status="not_run", detail="the run left no records")
    lines: dict[tuple[str, int], list[Backward]] = defaultdict(list)
    for record in candidate.backwards:
        lines[record.visit.at.file, record.visit.at.line].append(record)
    longest = max(lines.values(), key=len, default=[])
    if len(longest) < MIN_CALLS_TO_SEE_GROWTH:
        return Check(
            name="bounded", status="not_run", detail=f"only {len(longest)} calls from one line"
        )
    for records in lines.values():
        if len(records) >= MIN_CALLS_TO_SEE_GROWTH and _grows(records):
            counts = ", ".join(str(r.nodes) for r in records[:6])
            return Check(name="bounded", status="failed", detail=f"nodes per call grow: {counts}")
    counts = ", ".join(str(r.nodes) for r in longest[-3:])
    return Check(name="bounded", status="passed", detail=f"nodes per call: {counts}")


def _grows(records: list[Backward]) -> bool:
    """Whether each call reaches further back than the last, to the end of what was seen."""
    tail = records[-MIN_CALLS_TO_SEE_GROWTH:]
    further = all(a.reach < b.reach for a, b in pairwise(tail))
    larger = all(a.nodes < b.nodes for a, b in pairwise(tail))
    return larger and (further or tail[-1].reach > len(tail))


def minimal(before: Mapping[str, str], after: Mapping[str, str]) -> tuple[Check, int]:
    """How many lines the patch changes."""
    changed = sum(changed_lines(before.get(path, ""), text) for path, text in after.items())
    status = "passed" if 0 < changed <= MAX_CHANGED_LINES else "failed"
    plural = "line" if changed == 1 else "lines"
    return Check(name="minimal", status=status, detail=f"{changed} {plural} changed"), changed
