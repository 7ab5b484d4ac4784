"""Check what a patched run shows. Every check reads traces that the host itself collected."""

from __future__ import annotations

from collections import defaultdict
from collections.abc import Iterable, Mapping
from itertools import pairwise

from analyzers.explain.listed import counted, some
from analyzers.explain.pattern import pattern_seen_as, title_of
from analyzers.source.linediff import changed_lines
from app.run.outcome import ending, is_inconclusive, len_backwards, silent_kinds
from app.schemas import Check
from sandbox.protocol import RunResult
from sandbox.records import Backward, Silent, Trace

MIN_CALLS_PAST = 3  # backward calls past the failure that show a patch to run
MIN_CALLS_TO_SEE_GROWTH = 5
MAX_CHANGED_LINES = 40
NEEDLESS = 3  # times the largest graph of a backward call: more retained nodes are reported
SLACK = 20  # nodes


def runs(result: RunResult, original: RunResult, held: RunResult | None = None) -> Check:
    """Check that the patched script ends, or goes on for at least three backward calls past the
    failure, and shows none of the original's silent faults, except those in `spared`.

    A run that the sandbox could not finish proves nothing. Nor does an error well past the failure
    if the original, `held` at fixed parameters, gets there and raises it too.
    """
    calls, beyond = len_backwards(result), len_backwards(result) - len_backwards(original)
    others = spared(result, original)
    silent = result.trace.silent if result.trace is not None else []
    left = {r.kind for r in silent if r not in others} & silent_kinds(original)
    if left:
        return Check(name="runs", status="failed", detail=f"still shows {', '.join(sorted(left))}")
    if untrained := _still_untrained(result, original):
        detail = f"these learn no more than before: {some(sorted(untrained))}"
        return Check(name="runs", status="failed", detail=detail)
    if result.status == "finished":
        detail = f"ended by itself, {counted(calls, 'backward call')}"
        return Check(name="runs", status="passed", detail=detail)
    past = f"went on for {beyond} backward calls past the failure"
    if beyond >= MIN_CALLS_PAST and result.status != "raised":
        how = "" if result.status == "stopped" else f", until {ending(result)} ended the run"
        return Check(name="runs", status="passed", detail=past + how)
    if beyond >= MIN_CALLS_PAST and held is not None and _same_error(result, held):
        detail = f"{past}, then what the original raises too: {ending(result)}"
        return Check(name="runs", status="passed", detail=detail)
    if is_inconclusive(result):
        detail = f"{ending(result)}; {counted(calls, 'call')} seen"
        return Check(name="runs", status="not_run", detail=detail)
    return Check(name="runs", status="failed", detail=ending(result))


def _still_untrained(result: RunResult, original: RunResult) -> set[str]:
    """Return the parameters that the original does not train, if the patch changes this for none of
    them: no gradient reaches them, or no optimizer holds them. It does not matter whether static
    analysis still finds the fault.
    """
    before = _untrained(original.trace.silent if original.trace is not None else [])
    shown = result.trace.silent if result.trace is not None else []
    after = _untrained([*shown, *result.doubted])
    return before if before and before <= after else set()


def _untrained(records: Iterable[Silent]) -> set[str]:
    """Return the parameters without a gradient; those without an optimizer, if others are held in
    their place."""
    found = [r for r in records if r.kind in ("unfed-parameters", "unheld-parameters")]
    return {name for r in found for name in (r.instead or r.params)}


def spared(result: RunResult, original: RunResult) -> list[Silent]:
    """Return the faults that a patched run still shows for some of the original's parameters and
    that static analysis does not find in the patched source. They are not what the patch is for. If
    all the original's parameters are still affected, the patch has fixed nothing and none is
    returned, unless static analysis does not find that fault in the original either.
    """
    before = original.trace.silent if original.trace is not None else []
    no_fault = original.dismissed
    return [
        record
        for record in result.dismissed
        if any(
            record.kind == r.kind
            and ({*record.params} < {*r.params} or (record.params == r.params and r in no_fault))
            for r in before
        )
    ]


def _same_error(one: RunResult, other: RunResult) -> bool:
    if one.raised is None or other.raised is None:
        return False
    return (one.raised.type, one.raised.message) == (other.raised.type, other.raised.message)


def no_other_fault(result: RunResult, original: RunResult, kept: Trace | None) -> Check | None:
    """Return a check on silent faults of kinds that the original's run did not show; None if there
    are none. One that static analysis does not find in the patched source counts only if no
    gradient reaches a parameter, or a loss trains its target.

    It failed if the patch introduced one: a loss trains its target, and with all graphs `kept` no
    target of the original led to anything; or no backward reaches a parameter to which the original
    gave a gradient. Otherwise it differs: the original may not have got that far.
    """
    shown = result.trace.silent if result.trace is not None else []
    before, severe = silent_kinds(original), ("bootstrap-target", "unfed-parameters")
    others = [
        record
        for record in shown
        if record.kind not in before and (record.kind in severe or record not in result.dismissed)
    ]
    said = [
        title_of(pattern, record.detail) + (f" (line {record.at.line})" if record.at else "")
        for record in others
        if (pattern := pattern_seen_as(record.kind)) is not None
    ]
    if not said:
        return None
    ended = kept.ended if kept is not None else None
    constant = ended is not None and not ended.targets_with_graph and original.status == "finished"
    introduced = constant and any(record.kind == "bootstrap-target" for record in others)
    unfed = {name for r in others if r.kind == "unfed-parameters" for name in r.params}
    introduced |= bool(unfed & _rightly_given(original))
    status = "failed" if introduced else "differs"
    return Check(name="no_other_fault", status=status, detail="; ".join(dict.fromkeys(said)))


def _rightly_given(original: RunResult) -> set[str]:
    """Return the parameters to which the original gave a gradient before it failed, except those of
    which its run showed a fault: a target's, for example.
    """
    if original.trace is None:
        return set()
    given = {p for r in original.trace.backwards if r.outcome == "ok" for p in r.received}
    faulty = {name for r in original.trace.silent for name in r.params}
    return {p.name for p in original.trace.parameters if p.id in given and p.name} - faulty


def fresh(
    candidate: Trace | None, original: RunResult | None = None, kept: Trace | None = None
) -> Check:
    """Check that no backward call reaches a graph that was made from parameters before they got
    other values: by a step, or by the script's own writes, which torch does not notice. What the
    original does by hand, in calls before its failure, is meant.
    """
    if candidate is None or not candidate.backwards:
        return Check(name="fresh", status="not_run", detail="no backward call was seen")
    records = [(record, one) for record in candidate.backwards for one in record.stale]
    if original is None or _writes_by_hand(original, kept):
        records = [(record, one) for record, one in records if not one.by_hand]
    if records:
        record, one = records[0]
        by = "the script wrote other values into" if one.by_hand else "the last step changed"
        detail = (
            f"line {record.call.at.line} goes back through a graph built before {by} its weights"
        )
        return Check(name="fresh", status="failed", detail=detail)
    return Check(name="fresh", status="passed", detail="every backward uses the current weights")


def _writes_by_hand(original: RunResult, kept: Trace | None) -> bool:
    """Return True if the original writes into weights between a forward and its backward call."""
    own = original.trace.backwards if original.trace is not None else []
    held = kept.backwards if kept is not None else []
    before = [r for r in own if r.outcome == "ok"]
    last = max((r.call.n for r in before), default=0)
    records = [*before, *(r for r in held if r.call.n <= last)]
    return any(one.by_hand for record in records for one in record.stale)


def bounded(candidate: Trace | None, reference: Trace | None = None) -> Check:
    """Check that graphs stay bounded.

    The graph of a backward call must not grow with the number of calls from its line. What lists,
    attributes and records retain of graphs must not grow faster than in the `reference`, which
    retains whatever the original does; if it grows as fast, that is said.
    """
    if candidate is None:
        return Check(name="bounded", status="not_run", detail="the run left no records")
    lines: dict[tuple[str, int], list[Backward]] = defaultdict(list)
    for record in candidate.backwards:
        lines[record.call.at.file, record.call.at.line].append(record)
    longest = max(lines.values(), key=len, default=[])
    if len(longest) < MIN_CALLS_TO_SEE_GROWTH:
        return Check(
            name="bounded",
            status="not_run",
            detail=f"only {counted(len(longest), 'call')} from one line",
        )
    for records in lines.values():
        if len(records) >= MIN_CALLS_TO_SEE_GROWTH and _grows(records):
            counts = ", ".join(str(r.nodes) for r in records[:6])
            return Check(name="bounded", status="failed", detail=f"nodes per call grow: {counts}")
    if reference is not None and _growth(candidate) > 1.1 * _growth(reference):
        return Check(name="bounded", status="failed", detail=keeps_growing(candidate))
    if reference is not None and (grown := keeps_growing(candidate)):  # in the original, too
        return Check(name="bounded", status="differs", detail=grown)
    counts = ", ".join(str(r.nodes) for r in longest[-3:])
    kept = needless(candidate)
    alive = f"; up to {kept} are kept alive" if kept else ""
    return Check(name="bounded", status="passed", detail=f"nodes per call: {counts}{alive}")


def needless(trace: Trace | None) -> int:
    """Return the largest number of autograd nodes that lists, attributes and records retain, if it
    far exceeds what any one backward call reaches; else 0.
    """
    records = trace.backwards if trace is not None else []
    kept = max((r.kept for r in records if r.kept is not None), default=0)
    reached = max((r.nodes for r in records), default=0)
    return kept if kept > NEEDLESS * reached + SLACK else 0


def keeps_growing(trace: Trace) -> str:
    """Describe how retained graphs grow; return an empty string if they do not."""
    grown = _growth(trace)
    return f"every iteration keeps {grown:.0f} more nodes of graphs alive" if grown else ""


def _growth(trace: Trace) -> float:
    """Return by how many nodes the retained graphs grow in each iteration; 0 unless they grow in
    every one.

    Calls are grouped by their whole call stack, because one iteration may call a helper for a
    derivative and then for the derivative of that. Several `autograd.grad` calls from one place
    before a backward call count as one iteration.
    """
    paths: dict[tuple[tuple[str, int], ...], list[int]] = defaultdict(list)
    has_backward = any(record.call.kind == "backward" for record in trace.backwards)
    asked: set[tuple[tuple[str, int], ...]] = set()
    for record in trace.backwards:
        path = tuple((place.file, place.line) for place in record.call.stack)
        path = path or ((record.call.at.file, record.call.at.line),)
        if record.call.kind == "backward":
            asked.clear()
        elif path in asked:
            continue
        elif has_backward:
            asked.add(path)
        if record.kept is not None:
            paths[path].append(record.kept)
    rates = [
        (kept[-1] - kept[0]) / (len(kept) - 1)
        for kept in paths.values()
        if len(kept) >= MIN_CALLS_TO_SEE_GROWTH and all(a < b for a, b in pairwise(kept))
    ]
    return max(rates, default=0.0)


def _grows(records: list[Backward]) -> bool:
    """Return True if each of the last calls reaches further back than the call before."""
    tail = records[-MIN_CALLS_TO_SEE_GROWTH:]
    further = all(a.reach < b.reach for a, b in pairwise(tail))
    larger = all(a.nodes < b.nodes for a, b in pairwise(tail))
    return larger and (further or tail[-1].reach > len(tail))


def changed_by(before: Mapping[str, str], after: Mapping[str, str]) -> int:
    """Return how many lines a patch changes."""
    return sum(changed_lines(before.get(path, ""), text) for path, text in after.items())


def minimal(lines: int, *, same: bool) -> Check:
    """Check how many lines the patch changes: any number, if the gradients stay the `same`."""
    few = 0 < lines <= MAX_CHANGED_LINES
    allowed = "; the gradients stay the same" if same and not few else ""
    return Check(
        name="minimal",
        status="passed" if few or same else "failed",
        detail=f"{counted(lines, 'line')} changed{allowed}",
    )
