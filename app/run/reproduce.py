"""Run the original once, traced, and put what was seen beside what reading predicts."""

from __future__ import annotations

from collections import Counter
from collections.abc import Mapping
from dataclasses import dataclass, replace

from analyzers.evidence import Evidence, GraphReuse
from analyzers.notebooks.replay import repeated
from analyzers.request.binding import failing_place
from analyzers.request.causes import Explained, classify
from analyzers.source.project import Project
from analyzers.tracebacks import Frame, Part
from analyzers.tracebacks.messages import classify as family_and_hint
from app.request.case import READING_LIMIT_S, Case
from app.request.reader import Reader, ReadingLimit
from app.run.by_itself import silent_by_itself
from app.run.completion import (
    InWorld,
    completed,
    completed_by,
    completed_past,
    is_incomplete,
    is_partial,
)
from app.run.outcome import is_given, len_backwards
from app.run.replay import InOrder
from app.run.tracing import hidden_reuse, looked_closer, traced
from app.run.witness import merged, observed
from sandbox.protocol import RunResult, Session
from sandbox.records import Assumed, Plan, Trace

TIMES_CLEAN = 2  # after as many clean walks from a line, what reading says of it is not believed
FOLLOWED = 10  # backward calls: graphs and steps are looked at up to the seventh


@dataclass(frozen=True)
class Observation:
    """What is known before any patch. `run` is None when nothing was run; `why_not` says why.

    `order` is the order of a notebook's cells that showed the error; empty: top to bottom.
    `idle`: the run ended by itself and walked no graph, so it shows nothing of graphs.
    `plan`: the run was that of a part of a program, in a world of this plan.
    """

    run: RunResult | None
    trace: Trace | None
    evidence: tuple[Evidence, ...]
    why_not: str = ""
    order: tuple[int, ...] = ()
    idle: bool = False
    plan: Plan | None = None

    @property
    def from_run(self) -> bool:
        """Whether the evidence was observed, here or by the user's own traced run."""
        return any(piece.how != "predicted" for piece in self.evidence)

    @property
    def ran_clean(self) -> bool:
        """Whether the script ran here without an exception, to its end or for as long as training
        is followed, and walked graphs."""
        if self.run is None or self.run.status not in ("finished", "stopped") or self.idle:
            return False
        return len_backwards(self.run) > 0

    @property
    def followed(self) -> bool:
        """Whether the time limit ended a run that had made many backward calls, all of them
        clean: training goes on for longer than anybody waits."""
        return self.plan is None and not self.evidence and _went_on(self.run)


async def observe(case: Case, session: Session | None) -> Observation:
    """Reproduce in the sandbox; or take the user's own trace; or stay with the reading."""
    predicted = case.reading.evidence
    if case.problem is not None:
        return Observation(None, case.trace, _own(case) or (), case.problem)
    if case.trace is not None and (own := _own(case)):
        return await _beside_own(case, own, session)
    if session is None:
        return Observation(None, None, _relevant(case), "it was not run")
    if not case.runnable:
        return Observation(None, None, _relevant(case), "there is no script to run")
    run, order = await _reproduced(case, session)
    if is_partial(case, run):
        return await _completed(case, session)
    seen = observed(run.trace) if run.trace is not None else ()
    evidence = merged(seen, predicted)
    idle = run.status == "finished" and not evidence and len_backwards(run) == 0
    if not evidence and run.status in ("finished", "stopped"):
        evidence = await _hidden(case, run, session)
    unseen = idle or run.status not in ("finished", "stopped")
    if not evidence and unseen and not (_went_on(run) and case.traceback is None):
        evidence = _relevant(case, run)
    return Observation(run, run.trace, evidence, order=order, idle=idle)


async def _hidden(case: Case, run: RunResult, session: Session) -> tuple[Evidence, ...]:
    """What a kept graph hides: it is walked again behind steps that have changed its weights."""
    found = await hidden_reuse(case, run, session)
    if found is None or found.trace is None:
        return ()
    pieces = merged(observed(found.trace), case.reading.evidence)
    return tuple(replace(p, hidden=True) for p in pieces if isinstance(p, GraphReuse))


async def _completed(case: Case, session: Session) -> Observation:
    """A part of a program, in the world that comes nearest to the error. What it does silently
    may come from what was made up, unless reading says so, too; an error of another kind than the
    one given surely does."""
    run, plan = await completed(case, session)
    shows = run.trace is not None and run.trace.plan is not None and run.trace.plan.shows
    return await _told_by(case, session, run, plan, shows=shows)


async def observed_past(
    case: Case, seen: Observation, mended: Mapping[str, str], stopped: RunResult, session: Session
) -> Observation | None:
    """The same fault of a part of a program, in a world in which the mended text gets through; None
    where there is none, or another fault in that. A text that showed its fault as it was sent may
    turn out to be a part of one behind it: the mended one `stopped` for want of a name."""
    if not seen.from_run or (seen.plan is None and not is_incomplete(case, stopped)):
        return None
    past = await completed_past(case, session, seen.plan, mended)
    if past is None:
        return None
    plan, assumed = past
    run = await completed_by(case, session, plan)
    found = await _told_by(case, session, run, plan, shows=True)
    if not found.from_run or _failing(found.evidence[0]) != _failing(seen.evidence[0]):
        return None
    return _assuming(found, assumed)


def _assuming(seen: Observation, assumed: list[Assumed]) -> Observation:
    """The same, with what a patched run assumes behind the error of the text as it was sent."""
    if seen.run is None or seen.trace is None:
        return seen
    known = [(one.kind, one.name) for one in seen.trace.assumed]
    more = [one for one in assumed if (one.kind, one.name) not in known]
    trace = seen.trace.model_copy(update={"assumed": [*seen.trace.assumed, *more]})
    run = seen.run.model_copy(update={"trace": trace})
    return replace(seen, run=run, trace=trace)


async def _told_by(
    case: Case, session: Session, run: RunResult, plan: Plan, *, shows: bool
) -> Observation:
    if run.trace is None or run.status == "unavailable":
        return Observation(run, run.trace, _relevant(case), plan=plan)
    given = _awaited(case)
    if run.raised is not None and (_shows(run, case) if given else shows):
        run = await looked_closer(case, run, InWorld(session, plan))
        assert run.trace is not None
        raised = run.trace.model_copy(update={"silent": []})
        if seen := observed(raised):
            evidence = merged(seen, case.reading.evidence)
            return Observation(run, run.trace, evidence, plan=plan)
    trace = run.trace
    told_without = trace is not None and bool(trace.silent) and not len_backwards(run)
    ran = run.raised is None and (len_backwards(run) > 1 or told_without)
    if ran and (hidden := await _hidden(case, run, InWorld(session, plan))):
        return Observation(run, trace, hidden, plan=plan)
    if not ran or trace is None:
        return Observation(run, trace, _relevant(case), plan=plan)
    own: tuple[Evidence, ...] = ()
    if not given or (case.traceback is not None and case.traceback.retold):  # or so it may be
        run = await looked_closer(case, run, InWorld(session, plan))
        own = silent_by_itself(run.trace or trace, case)
    return Observation(run, run.trace, own if own or not given else _relevant(case), plan=plan)


def _went_on(run: RunResult | None) -> bool:
    """Whether only the time limit ended the run, behind more calls than any fault needs to show."""
    return run is not None and run.status == "timed_out" and len_backwards(run) >= FOLLOWED


def as_observed(session: Session | None, case: Case, seen: Observation) -> Session | None:
    """The session, running a notebook's cells in the order that showed the error, or a part of a
    program in the world that did."""
    if session is not None and seen.plan is not None:
        return InWorld(session, seen.plan)
    if session is None or case.notebook is None or not seen.order:
        return session
    return InOrder(session, case.notebook, seen.order)


async def _reproduced(case: Case, session: Session) -> tuple[RunResult, tuple[int, ...]]:
    """The run from top to bottom; where that does not show the error that a notebook's user saw,
    the run in an order of cells that does, with this order."""
    first = await traced(case, session)
    if case.notebook is None or not _awaited(case) or _shows(first, case):
        return first, ()
    for order in case.notebook.replays:
        run = await traced(case, InOrder(session, case.notebook, order))
        if _shows(run, case):
            return run, order
    return first, ()


def _awaited(case: Case) -> bool:
    """Whether an error of a kind that we explain is to be shown."""
    return case.traceback is not None and case.traceback.family != "other"


def _shows(run: RunResult, case: Case) -> bool:
    """Whether the run raised an error of the family that the traceback speaks of, or that of
    another error in the same text."""
    if run.raised is None or case.traceback is None:
        return False
    given = case.traceback
    if is_given(case, run.raised):
        return given.family != "other"
    frames = tuple(
        Frame(f.file, f.line, f.function, f.code, f.file not in case.project.files)
        for f in run.raised.frames
    )
    part = Part(run.raised.type, run.raised.message, frames)
    family, kind = family_and_hint(part)
    return any(
        family == told and (kind == hint or "detached" not in (kind, hint) or None in (kind, hint))
        for told, hint in ((given.family, given.kind), *given.beside)
    )


async def _beside_own(
    case: Case, own: tuple[Evidence, ...], session: Session | None
) -> Observation:
    """The evidence of the user's own run. Where the script raises the same here, without the
    user's data and device, its patches can be checked here too."""
    if session is not None and case.runnable:
        run = await traced(case, session)
        if run.trace is not None and any(type(p) is type(own[0]) for p in observed(run.trace)):
            return Observation(run, case.trace, own)
    return Observation(None, case.trace, own, "the trace is from a run of yours")


def _own(case: Case) -> tuple[Evidence, ...]:
    """Evidence in the trace that the user sent."""
    return merged(observed(case.trace), case.reading.evidence) if case.trace else ()


def _relevant(case: Case, run: RunResult | None = None) -> tuple[Evidence, ...]:
    """What reading predicts, or else suspects. Without an error to explain, a run that walked
    again and again where reading sees it fail, and did not fail, is right."""
    pieces = (*case.reading.suspected, *case.reading.evidence)
    if run is None or run.trace is None or _awaited(case):
        return pieces
    clean = Counter(
        (record.visit.at.file, record.visit.at.line)
        for record in run.trace.backwards
        if record.outcome == "ok"
    )
    return tuple(p for p in pieces if clean[_failing(p)] < TIMES_CLEAN)


def _failing(piece: Evidence) -> tuple[str, int]:
    at = failing_place(piece)
    return (at.file, at.line) if at is not None else ("", 0)


def project_of(case: Case, seen: Observation) -> Project:
    """The project, with those cells of a notebook marked as run again that the run did run
    again."""
    if seen.run is None or case.notebook is None:
        return case.project
    return replace(case.project, rerun=repeated(seen.order))


async def explain(case: Case, seen: Observation, reader: Reader) -> list[Explained]:
    """Name the causes, with candidate patches, in a bounded worker."""
    if not seen.evidence:
        return [] if seen.ran_clean and seen.plan is None else list(case.told)
    try:
        project = project_of(case, seen)
        causes = await reader.call(classify, project, seen.evidence, timeout=READING_LIMIT_S)
    except ReadingLimit:
        return []
    if not causes and not seen.from_run:
        return list(case.told)
    return [c if c.basis != "read" else replace(c, basis=case.reading.basis) for c in causes]


def is_suspected(case: Case, seen: Observation) -> bool:
    """Whether the evidence only says what would explain the error."""
    return not seen.from_run and bool(case.reading.suspected)
