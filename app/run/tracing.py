"""Run the script as it was sent: traced first, then again and slower for details."""

from __future__ import annotations

from collections import Counter

from analyzers.source.samples import sampled_without_log_prob
from app.request.case import Case
from app.run.outcome import may_differentiate
from sandbox.protocol import Job, RunResult, Session
from sandbox.records import Backward, Reuse, Silent

SHORT = 0.2  # of the time limit: how long training that does not end is followed
LONGER = 0.5  # the same, if an error was given and has not appeared, or the first run ended
NO_GRADIENT, CONSTANT = "unfed-parameters", "constant-term"
OFTEN = 2  # backward calls that reach a graph made before a step
LONG = 0.4  # of the time limit: a run that took longer is repeated only for an error


async def traced(case: Case, session: Session) -> RunResult:
    """Make a traced run. If it shows an autograd error, add the details that a slower run finds."""
    return await looked_closer(case, await _run(case, session, "trace"), session)


async def looked_closer(case: Case, first: RunResult, session: Session) -> RunResult:
    """Return the run with the details that a slower run finds, if it showed an autograd error."""
    if first.trace is not None and first.trace.reuse is not None:
        return await _run_for_path(case, first, first.trace.reuse, session)
    return await run_for_changes(case, first, session)


async def _run(case: Case, session: Session, mode: str, **more: object) -> RunResult:
    """Run the script as it was sent. If an error was given and the run was stopped before it
    appeared, the result counts as timed out: the error may yet come.
    """
    run = await session.run(
        Job.model_validate(
            {
                "files": dict(case.project.files),
                "entry": case.project.entry,
                "mode": mode,
                "gradients": True,
                "gradcheck": mode == "trace" and may_differentiate(case.project.files),
                "follow_s": case.time_limit_s * (SHORT if case.traceback is None else LONGER),
                "time_limit_s": case.time_limit_s,
                **more,
            }
        )
    )
    if run.status == "stopped" and case.traceback is not None:
        return run.model_copy(update={"status": "timed_out"})
    return run


async def run_for_changes(case: Case, first: RunResult, session: Session) -> RunResult:
    """Return the run with the details that a second, slower run finds.

    If the first met a stale tensor, a lost graph or parameters without gradient: the line that
    changed or lost it. If it showed no fault, but constant terms of a loss or parameters that
    nothing uses: what the second reports of those.
    """
    if first.trace is None:
        return first
    without_gradient = any(map(_is_without_gradient, first.trace.silent))
    if first.trace.inplace is None and first.trace.missing is None and not without_gradient:
        terms = first.trace.ended is not None and first.trace.ended.constant_terms
        terms = terms or sampled_without_log_prob(case.project)
        unused = any(fault.kind == NO_GRADIENT for fault in first.doubted)
        slow = first.ran_s > LONG * case.time_limit_s  # too expensive for what may be intended
        if slow or first.trace.silent or not (terms or unused):
            return first
    longer = {"follow_s": LONGER * case.time_limit_s} if first.status == "finished" else {}
    second = await _run(case, session, "inplace", **longer)  # which is to get as far as the first
    if second.trace is None:
        return first
    found: dict[str, object] = {
        name: record
        for name in ("inplace", "missing")
        if (record := getattr(second.trace, name)) is not None
        and (getattr(first.trace, name) is not None or without_gradient)
    }
    lost = {tuple(s.params): s.at for s in second.trace.silent if s.kind == NO_GRADIENT}
    found["silent"] = [
        s.model_copy(update={"at": lost.get(tuple(s.params))}) if _is_without_gradient(s) else s
        for s in first.trace.silent or filter(_is_placed, second.trace.silent)
    ]
    return first.model_copy(update={"trace": first.trace.model_copy(update=found)})


def _is_placed(fault: Silent) -> bool:
    """Return True if a slower run found the line on which a graph was lost."""
    return fault.kind == CONSTANT or (fault.kind == NO_GRADIENT and fault.at is not None)


def _is_without_gradient(fault: Silent) -> bool:
    """Return True if a run is certain that parameters get no gradient but does not know where it is
    lost.
    """
    return fault.kind == NO_GRADIENT and not fault.doubtful and fault.at is None


async def hidden_reuse(case: Case, first: RunResult, session: Session) -> RunResult | None:
    """Return a run that shows the second use which `retain_graph` hid in a clean run; None if there
    is none.

    If a retaining line repeatedly ran backward through a graph made before the last step, the
    script runs again with those graphs freed, so that the error and what led to it appear.
    """
    records = first.trace.backwards if first.trace is not None else []
    stale = Counter(_line(r) for r in records if r.stale and r.call.kind == "backward")
    keeping = {_line(r) for r in records if r.call.retain and not r.call.create_graph}
    freeing = [line for line, calls in stale.items() if calls >= OFTEN and line in keeping][:16]
    if not freeing:
        return None
    second = await _run(case, session, "trace", freeing=freeing)
    if second.trace is None or second.trace.reuse is None:
        return None
    return await _run_for_path(case, second, second.trace.reuse, session, freeing=freeing)


def _line(record: Backward) -> tuple[str, int]:
    return record.call.at.file, record.call.at.line


async def _run_for_path(
    case: Case, first: RunResult, reuse: Reuse, session: Session, **more: object
) -> RunResult:
    """Run again and follow, line by line, the values whose old graph was reached a second time. The
    second run's record of the failure replaces the first's, because its frames have other numbers.
    """
    follow = dict.fromkeys((edge.old.number, edge.output) for edge in reuse.stale_edges)
    known = [(number, output) for number, output in follow if number >= 0]
    slow = first.ran_s > LONG * case.time_limit_s  # patches need the time more
    if not known or first.trace is None or slow:
        return first
    second = await _run(case, session, "trace", follow=known, freed=reuse.freed.n, **more)
    if second.trace is None or second.trace.reuse is None or second.trace.path is None:
        return first
    found = {"reuse": second.trace.reuse, "path": second.trace.path}
    return first.model_copy(update={"trace": first.trace.model_copy(update=found)})
