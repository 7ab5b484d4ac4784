"""Run the original once, traced, and merge what it shows with what static analysis predicts."""

from __future__ import annotations

from collections import Counter
from collections.abc import Mapping
from dataclasses import replace

from analyzers.evidence import Evidence, GraphReuse, KnownError, MissingGraph, SilentFault
from analyzers.explain.source_locations import resolve_location
from analyzers.messages import entry_of
from analyzers.request.binding import failing_place
from analyzers.source.backward import BACKWARD_CALLS, backward_root
from analyzers.source.project import spelled
from analyzers.tracebacks import TracebackFrame, TracebackPart
from analyzers.tracebacks.messages import classify as family_and_hint
from app.request.case import Case
from app.run.by_itself import silent_by_itself
from app.run.completion import (
    HarnessSession,
    completed,
    completed_by,
    completed_past,
    is_incomplete,
    is_own,
    is_partial,
)
from app.run.observation import Observation, went_on
from app.run.outcome import is_given, len_backwards
from app.run.replay import CellOrderSession
from app.run.run_evidence import confirmed_evidence, observed_evidence
from app.run.tracing import hidden_reuse, looked_closer, traced
from sandbox.protocol import RunResult, Session
from sandbox.records import Assumed, HarnessPlan, Trace

_UNLIKE = {"detached", "non-scalar", "numpy"}  # kinds that no other of their family shows
TIMES_CLEAN = 2  # clean backward calls from a line that refute a prediction about it


async def observe(case: Case, session: Session | None) -> Observation:
    """Reproduce the error in the sandbox. If that is impossible, use the user's own trace, or else
    what static analysis predicts.
    """
    predicted = case.reading.evidence
    if case.problem is not None:
        return Observation(None, case.trace, _own(case) or (), case.problem)
    if case.trace is not None and (own := _own(case)):
        return await _with_own_trace(case, own, session)
    if session is None:
        return Observation(None, None, _relevant(case), "it was not run")
    if not case.runnable:
        return Observation(None, None, _relevant(case), "there is no script to run")
    run, order = await _reproduced(case, session)
    if is_partial(case, run):
        return await _completed(case, session)
    seen = _answering(observed_evidence(run.trace), case) if run.trace is not None else ()
    evidence = confirmed_evidence(seen, predicted)
    at_call = case.traceback is not None and case.traceback.kind == "transform"
    silent = run.status == "finished" and not evidence and len_backwards(run) == 0
    idle = silent and not at_call
    if not evidence and run.status in ("finished", "stopped"):
        evidence = await _hidden(case, run, session)
    unseen = idle or run.status not in ("finished", "stopped")
    if not evidence and unseen and not (went_on(run) and case.traceback is None):
        evidence = _relevant(case, run)
    elif unseen and _only_silent(evidence) and _awaited(case) and not shows_given(run, case):
        evidence = _relevant(case, run) or evidence  # it ended before the error that was given
    return Observation(run, run.trace, evidence, order=order, idle=idle, at_call=at_call)


def _only_silent(evidence: tuple[Evidence, ...]) -> bool:
    return all(isinstance(piece, SilentFault) for piece in evidence)


def _answering(seen: tuple[Evidence, ...], case: Case) -> tuple[Evidence, ...]:
    """Return the evidence without what the run let pass as older versions of torch do, where the
    error that was given is another one.
    """
    given = case.traceback
    if given is None or given.family == "other":
        return seen
    entry = entry_of(given.message, given.code)
    asked = entry.id if entry is not None else ""
    return tuple(
        piece
        for piece in seen
        if not isinstance(piece, KnownError) or piece.message or piece.entry == asked
    )


async def _hidden(case: Case, run: RunResult, session: Session) -> tuple[Evidence, ...]:
    """Return the second uses that `retain_graph` hides: a retained graph goes through backward
    again after steps that changed its weights.
    """
    found = await hidden_reuse(case, run, session)
    if found is None or found.trace is None:
        return ()
    pieces = confirmed_evidence(observed_evidence(found.trace), case.reading.evidence)
    return tuple(replace(p, hidden=True) for p in pieces if isinstance(p, GraphReuse))


async def _completed(case: Case, session: Session) -> Observation:
    """Run incomplete code in the harness that comes nearest to the error.

    The harness may have caused a silent fault, unless static analysis reports it too. It certainly
    caused an error of another kind than the given one.
    """
    run, plan = await completed(case, session)
    shows = run.trace is not None and run.trace.plan is not None and run.trace.plan.shows
    return await _observed(case, session, run, plan, shows=shows or is_own(run.trace))


async def observed_past(
    case: Case, seen: Observation, patched: Mapping[str, str], stopped: RunResult, session: Session
) -> Observation | None:
    """Observe the same fault of incomplete code in a harness in which the patched script runs
    through. Return None if there is no such harness, or if another fault shows in it.

    A script that showed its fault as it was sent may prove incomplete after it: its patched run
    `stopped` because a name is missing.
    """
    if not seen.from_run or (seen.plan is None and not is_incomplete(case, stopped)):
        return None
    past = await completed_past(case, session, seen.plan, patched)
    if past is None:
        return None
    plan, assumed = past
    run = await completed_by(case, session, plan)
    found = await _observed(case, session, run, plan, shows=True)
    if not found.from_run or _failing(found.evidence[0]) != _failing(seen.evidence[0]):
        return None
    return _assuming(found, assumed)


def _assuming(seen: Observation, assumed: list[Assumed]) -> Observation:
    """Return the observation with the assumptions added that a patched run needs after the
    original's error.
    """
    if seen.run is None or seen.trace is None:
        return seen
    known = [(one.kind, one.name) for one in seen.trace.assumed]
    more = [one for one in assumed if (one.kind, one.name) not in known]
    trace = seen.trace.model_copy(update={"assumed": [*seen.trace.assumed, *more]})
    run = seen.run.model_copy(update={"trace": trace})
    return replace(seen, run=run, trace=trace)


async def _observed(
    case: Case, session: Session, run: RunResult, plan: HarnessPlan, *, shows: bool
) -> Observation:
    if run.trace is None or run.status == "unavailable":
        return Observation(run, run.trace, _relevant(case), plan=plan)
    given = _awaited(case)
    if run.raised is not None and (shows_given(run, case) if given else shows):
        run = await looked_closer(case, run, HarnessSession(session, plan))
        assert run.trace is not None
        raised = run.trace.model_copy(update={"silent": []})
        seen = observed_evidence(raised)
        if seen and not _is_of_harness(seen[0], case, run.trace):
            evidence = confirmed_evidence(seen, case.reading.evidence)
            return Observation(run, run.trace, evidence, plan=plan)
    trace = run.trace
    silent_only = trace is not None and bool(trace.silent) and not len_backwards(run)
    ran = run.raised is None and (len_backwards(run) > 1 or silent_only)
    if ran and (hidden := await _hidden(case, run, HarnessSession(session, plan))):
        return Observation(run, trace, hidden, plan=plan)
    if not ran or trace is None:
        return Observation(run, trace, _relevant(case), plan=plan)
    own: tuple[Evidence, ...] = ()
    if not given or (case.traceback is not None and case.traceback.prose_only):  # or so it may be
        run = await looked_closer(case, run, HarnessSession(session, plan))
        own = silent_by_itself(run.trace or trace, case)
    return Observation(run, run.trace, own if own or not given else _relevant(case), plan=plan)


def _is_of_harness(piece: Evidence, case: Case, trace: Trace) -> bool:
    """Return True if a graph is missing from a synthesized value: that says nothing of the code."""
    if not isinstance(piece, MissingGraph) or piece.ended_at is not None:
        return False
    where = resolve_location(case.project, piece.at)
    call = where.call(*BACKWARD_CALLS) if where is not None else None
    if call is None:  # a gradient is read: none is there before a backward call
        return not case.reading.backward_lines
    root = backward_root(call)
    names = {assumed.name for assumed in trace.assumed if assumed.kind == "name"}
    return root is not None and spelled(root) in names


async def _reproduced(case: Case, session: Session) -> tuple[RunResult, tuple[int, ...]]:
    """Run from top to bottom. If that does not show the error that a notebook's user saw, try its
    other cell orders. Return the run and its order.
    """
    first = await traced(case, session)
    if case.notebook is None or not _awaited(case) or shows_given(first, case):
        return first, ()
    for order in case.notebook.replays:
        run = await traced(case, CellOrderSession(session, case.notebook, order))
        if shows_given(run, case):
            return run, order
    return first, ()


def _awaited(case: Case) -> bool:
    """Return True if the user gave an error of a kind that is explained here."""
    return case.traceback is not None and case.traceback.family != "other"


def shows_given(run: RunResult, case: Case) -> bool:
    """Return True if the run raised an error of the same family as the traceback, or as another
    error in the same input.
    """
    if run.raised is None or case.traceback is None:
        return False
    given = case.traceback
    if is_given(case, run.raised):
        return given.family != "other"
    frames = tuple(
        TracebackFrame(f.file, f.line, f.function, f.code, f.file not in case.project.files)
        for f in run.raised.frames
    )
    part = TracebackPart(run.raised.type, run.raised.message, frames)
    family, kind = family_and_hint(part)
    return any(
        family == other
        and (kind == hint or None in (kind, hint) or _UNLIKE.isdisjoint((kind, hint)))
        for other, hint in ((given.family, given.kind), *given.other_errors)
    )


async def _with_own_trace(
    case: Case, own: tuple[Evidence, ...], session: Session | None
) -> Observation:
    """Use the evidence of the user's own run. If the script raises the same error here, without the
    user's data and device, return this run too, so that patches can be checked.
    """
    if session is not None and case.runnable:
        run = await traced(case, session)
        if run.trace is not None and any(
            type(p) is type(own[0]) for p in observed_evidence(run.trace)
        ):
            return Observation(run, case.trace, own)
    return Observation(None, case.trace, own, "the trace is from a run of yours")


def _own(case: Case) -> tuple[Evidence, ...]:
    """Return the evidence in the trace that the user sent."""
    return (
        confirmed_evidence(observed_evidence(case.trace), case.reading.evidence)
        if case.trace
        else ()
    )


def _relevant(case: Case, run: RunResult | None = None) -> tuple[Evidence, ...]:
    """Return what static analysis predicts or suspects. If no error was given, drop predictions
    about lines from which backward ran cleanly several times.
    """
    pieces = (*case.reading.suspected, *case.reading.evidence)
    if run is None or run.trace is None or _awaited(case):
        return pieces
    clean = Counter(
        (record.call.at.file, record.call.at.line)
        for record in run.trace.backwards
        if record.outcome == "ok"
    )
    return tuple(p for p in pieces if clean[_failing(p)] < TIMES_CLEAN)


def _failing(piece: Evidence) -> tuple[str, int]:
    at = failing_place(piece)
    return (at.file, at.line) if at is not None else ("", 0)
