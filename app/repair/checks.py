"""What a patched run must show. Each check reads traces that the host itself collected."""

from __future__ import annotations

from collections import defaultdict
from collections.abc import Iterable, Mapping
from itertools import pairwise, takewhile

from analyzers.source.linediff import changed_lines
from app.repair.effects import by_optimizer, paired
from app.run.outcome import ending, len_backwards, says_nothing, silent_kinds
from app.schemas import Check
from sandbox.protocol import RunResult
from sandbox.records import Backward, Step, Trace

MIN_CALLS_PAST = 3  # backward calls past the failure that show a patch to run
MIN_CALLS_TO_SEE_GROWTH = 5
MAX_CHANGED_LINES = 40


def runs(result: RunResult, original: RunResult, held: RunResult | None = None) -> Check:
    """The patched script ends, or goes on at least three backward calls past the failure, and
    none of the silent faults that the original showed is left.

    What a run of ours could not finish says nothing; nor does an error well past the failure that
    the original raises too, once it is `held` at its parameters and gets there.
    """
    calls, beyond = len_backwards(result), len_backwards(result) - len_backwards(original)
    left = silent_kinds(result) & silent_kinds(original)
    if left:
        return Check(name="runs", status="failed", detail=f"still shows {', '.join(sorted(left))}")
    if result.status == "finished":
        return Check(
            name="runs", status="passed", detail=f"ended by itself, {calls} backward calls"
        )
    past = f"{beyond} backward calls past the failure"
    if beyond >= MIN_CALLS_PAST and result.status != "raised":
        how = "" if result.status == "stopped" else f", until {ending(result)} ended the run"
        return Check(name="runs", status="passed", detail=past + how)
    if beyond >= MIN_CALLS_PAST and held is not None and _same_error(result, held):
        detail = f"{past}, then what the original raises too: {ending(result)}"
        return Check(name="runs", status="passed", detail=detail)
    if says_nothing(result):
        return Check(name="runs", status="not_run", detail=f"{ending(result)}; {calls} calls seen")
    return Check(name="runs", status="failed", detail=ending(result))


def _same_error(one: RunResult, other: RunResult) -> bool:
    if one.raised is None or other.raised is None:
        return False
    return (one.raised.type, one.raised.message) == (other.raised.type, other.raised.message)


def learns(
    reference: Trace | None, candidate: Trace | None, original: Trace | None = None
) -> Check:
    """No parameter loses its gradient, and none gains one that the original's mathematics did
    not give it, optimizer by optimizer.

    Without a reference, the `original`'s own calls before it failed say who should learn. Those
    that its run showed to be at fault may gain a gradient.
    """
    if candidate is None:
        return Check(name="learns", status="failed", detail="the run left no records")
    given = _fed(candidate)
    if reference is None or not (wanted := _fed(reference)):
        return _learns_without_reference(candidate, given, original)
    names = {p.id: p.name or f"parameter {p.id}" for p in candidate.parameters}
    lost = {p for o, params in wanted.items() for p in params - given.get(o, set())}
    inputs = {p.id for p in reference.parameters if p.optimizer is None and not p.name}
    if any(inputs & params for params in given.values()):
        lost -= inputs  # those of one name count once, those without a name each time
    told = _told(original)
    fed = {p for p, name in names.items() if name in told}
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
    count = len({p for params in wanted.values() for p in params})
    return Check(
        name="learns", status="passed", detail=f"{count} of {count} parameters get a gradient"
    )


def _told(original: Trace | None) -> set[str]:
    """The parameters that the original's run showed to be at fault."""
    records = original.silent if original is not None else []
    return {name for record in records for name in record.params}


def starved(reference: Trace, candidate: Trace) -> str:
    """Parameters that fall silent from some step on although the reference goes on to feed them;
    empty where there are none."""
    late = _lost_later(reference, candidate)
    if late is None:
        return ""
    names = {p.id: p.name or f"parameter {p.id}" for p in candidate.parameters}
    return f"no gradient from step {late[0]} on: {_some(late[1], names)}"


def _lost_later(reference: Trace, candidate: Trace) -> tuple[int, set[int]] | None:
    """The first step from which on parameters miss a gradient that the reference gives them. One
    step alone says little where it follows others: a gradient may happen to be zero."""
    fed: dict[int, list[tuple[int, bool]]] = defaultdict(list)
    for ours, theirs in paired(reference, candidate):
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
    candidate: Trace, given: Mapping[int, set[int]], original: Trace | None
) -> Check:
    """Where the original's own gradients cannot be had: every parameter in an optimizer, and
    every one that the original's calls reached before it failed. Those alone, where it failed by
    asking for the gradient of something that its loss does not use."""
    owned = {p.id for p in candidate.parameters if p.optimizer is not None and p.requires_grad}
    wanted = _received(original) if original is not None else set()
    if original is not None and owned:  # a copy that was a leaf may be none any more
        wanted -= {p.id for p in original.parameters if p.optimizer is None} - _met(candidate)
    missing = original.missing if original is not None else None
    if not wanted or missing is None or missing.how != "unused":
        wanted |= owned
    fed = {p for params in given.values() for p in params} | _received(candidate)
    if not wanted and not fed:
        return Check(name="learns", status="not_run", detail="no parameter was seen")
    names = {p.id: p.name or f"parameter {p.id}" for p in candidate.parameters}
    if lost := wanted - fed:
        return Check(name="learns", status="failed", detail=f"no gradient: {_some(lost, names)}")
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
    return {
        optimizer: {param for step in steps for param in _with_gradient(step)}
        for optimizer, steps in by_optimizer(trace).items()
    }


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
            detail=f"line {line} goes back through a graph built before the last step changed "
            "its weights",
        )
    return Check(name="fresh", status="passed", detail="every backward uses the current weights")


def bounded(candidate: Trace | None, reference: Trace | None = None) -> Check:
    """Neither the graph behind a backward grows with the number of calls from its line, nor does
    what lists, attributes and records keep alive of graphs grow faster than in the `reference`,
    which keeps whatever the original holds on to."""
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
    if reference is not None and _growth(candidate) > 1.1 * _growth(reference):
        return Check(name="bounded", status="failed", detail=hoards(candidate))
    counts = ", ".join(str(r.nodes) for r in longest[-3:])
    return Check(name="bounded", status="passed", detail=f"nodes per call: {counts}")


def hoards(trace: Trace) -> str:
    """What to say where ever more of graphs is kept alive; empty where it is not."""
    grown = _growth(trace)
    return f"every pass keeps {grown:.0f} more nodes of graphs alive" if grown else ""


def _growth(trace: Trace) -> float:
    """By how many nodes what is kept alive grows from pass to pass, if in every one."""
    lines: dict[tuple[str, int], list[int]] = defaultdict(list)
    for record in trace.backwards:
        if record.kept is not None:
            lines[record.visit.at.file, record.visit.at.line].append(record.kept)
    rates = [
        (kept[-1] - kept[0]) / (len(kept) - 1)
        for kept in lines.values()
        if len(kept) >= MIN_CALLS_TO_SEE_GROWTH and all(a < b for a, b in pairwise(kept))
    ]
    return max(rates, default=0.0)


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
