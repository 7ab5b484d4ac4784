"""What a patched run must show. Each check reads traces that the host itself collected."""

from __future__ import annotations

from collections import defaultdict
from collections.abc import Mapping
from itertools import pairwise

from analyzers.source.linediff import changed_lines
from app.run.outcome import ending, len_backwards, says_nothing, silent_kinds
from app.schemas import Check
from sandbox.protocol import RunResult
from sandbox.records import Backward, Silent, Trace

MIN_CALLS_PAST = 3  # backward calls past the failure that show a patch to run
MIN_CALLS_TO_SEE_GROWTH = 5
MAX_CHANGED_LINES = 40
NEEDLESS = 3  # times the largest graph that is walked: what is kept alive beyond it
SLACK = 20  # nodes


def runs(result: RunResult, original: RunResult, held: RunResult | None = None) -> Check:
    """The patched script ends, or goes on at least three backward calls past the failure, and
    none of the silent faults that the original showed is left, but see `spared`.

    What a run of ours could not finish says nothing; nor does an error well past the failure that
    the original raises too, once it is `held` at its parameters and gets there.
    """
    calls, beyond = len_backwards(result), len_backwards(result) - len_backwards(original)
    others = spared(result, original)
    silent = result.trace.silent if result.trace is not None else []
    left = {r.kind for r in silent if r not in others} & silent_kinds(original)
    if left:
        return Check(name="runs", status="failed", detail=f"still shows {', '.join(sorted(left))}")
    if result.status == "finished":
        return Check(
            name="runs", status="passed", detail=f"ended by itself, {calls} backward calls"
        )
    past = f"went on for {beyond} backward calls past the failure"
    if beyond >= MIN_CALLS_PAST and result.status != "raised":
        how = "" if result.status == "stopped" else f", until {ending(result)} ended the run"
        return Check(name="runs", status="passed", detail=past + how)
    if beyond >= MIN_CALLS_PAST and held is not None and _same_error(result, held):
        detail = f"{past}, then what the original raises too: {ending(result)}"
        return Check(name="runs", status="passed", detail=detail)
    if says_nothing(result):
        return Check(name="runs", status="not_run", detail=f"{ending(result)}; {calls} calls seen")
    return Check(name="runs", status="failed", detail=ending(result))


def spared(result: RunResult, original: RunResult) -> list[Silent]:
    """What a patched run still shows of some of the original's parameters, and reading finds
    nowhere in the patched source: it is not what the patch is for. Of all of them, the patch has
    mended nothing."""
    before = original.trace.silent if original.trace is not None else []
    return [
        record
        for record in result.dismissed
        if any(record.kind == r.kind and {*record.params} < {*r.params} for r in before)
    ]


def _same_error(one: RunResult, other: RunResult) -> bool:
    if one.raised is None or other.raised is None:
        return False
    return (one.raised.type, one.raised.message) == (other.raised.type, other.raised.message)


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
    kept = needless(candidate)
    alive = f"; up to {kept} are kept alive" if kept else ""
    return Check(name="bounded", status="passed", detail=f"nodes per call: {counts}{alive}")


def needless(trace: Trace | None) -> int:
    """How many autograd nodes lists, attributes and records keep alive at most, where that is far
    more than any one backward walks; 0 where it is not."""
    records = trace.backwards if trace is not None else []
    kept = max((r.kept for r in records if r.kept is not None), default=0)
    walked = max((r.nodes for r in records), default=0)
    return kept if kept > NEEDLESS * walked + SLACK else 0


def hoards(trace: Trace) -> str:
    """What to say where ever more of graphs is kept alive; empty where it is not."""
    grown = _growth(trace)
    return f"every pass keeps {grown:.0f} more nodes of graphs alive" if grown else ""


def _growth(trace: Trace) -> float:
    """By how many nodes what is kept alive grows from pass to pass, if in every one. A helper's
    callers are told apart: one pass may call it for a derivative, for that one's, and so on. What
    a forward asks of `autograd.grad` several times in front of a backward is of one pass."""
    paths: dict[tuple[tuple[str, int], ...], list[int]] = defaultdict(list)
    walks = any(record.visit.kind == "backward" for record in trace.backwards)
    asked: set[tuple[tuple[str, int], ...]] = set()
    for record in trace.backwards:
        path = tuple((place.file, place.line) for place in record.visit.stack)
        path = path or ((record.visit.at.file, record.visit.at.line),)
        if record.visit.kind == "backward":
            asked.clear()
        elif path in asked:
            continue
        elif walks:
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
    """Whether each call reaches further back than the last, to the end of what was seen."""
    tail = records[-MIN_CALLS_TO_SEE_GROWTH:]
    further = all(a.reach < b.reach for a, b in pairwise(tail))
    larger = all(a.nodes < b.nodes for a, b in pairwise(tail))
    return larger and (further or tail[-1].reach > len(tail))


def allowed(check: Check) -> Check:
    """The check, passed: however many lines are changed, the gradients are the same."""
    return check.model_copy(update={"status": "passed"})


def minimal(before: Mapping[str, str], after: Mapping[str, str]) -> tuple[Check, int]:
    """How many lines the patch changes."""
    changed = sum(changed_lines(before.get(path, ""), text) for path, text in after.items())
    status = "passed" if 0 < changed <= MAX_CHANGED_LINES else "failed"
    plural = "line" if changed == 1 else "lines"
    return Check(name="minimal", status=status, detail=f"{changed} {plural} changed"), changed
