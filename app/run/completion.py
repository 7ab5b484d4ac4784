"""Runs a part of a program in a world that is made up around it, and its patches in the same."""

from __future__ import annotations

import re
from collections.abc import Mapping

from analyzers.tracebacks import ParsedTraceback
from app.request.case import Case
from app.run.outcome import len_backwards
from app.run.witness import observed
from sandbox.protocol import Job, RunResult, Session, Wanted, World
from sandbox.records import Assumed, Plan

CALLS, PATIENCE_S = 20, 0.8  # backward calls, and a while: then a completed run has shown enough
Files = Mapping[str, str]
_UNKNOWN = "its calls do nothing"  # as `sandbox.inside.standins.nothing` says
_GIVES = re.compile(rf"{_UNKNOWN}|random|noise|synthetic|tables")  # and those that give data
_DEFINITION = re.compile(r"(?:\A|[\r\n\f])(?:def|class)[ \t]++\w++[ \t]*+[(\[:]")  # no backtracking
_INCOMPLETE = ("NameError", "ImportError", "ModuleNotFoundError")


class InWorld:
    """A session whose runs follow the plan of a completed run."""

    def __init__(self, session: Session, plan: Plan) -> None:
        self._session = session
        self._world = World(plan=plan)

    async def run(self, job: Job) -> RunResult:
        """Run the job's entry as the part of a program that it is."""
        return await self._session.run(job.model_copy(update={"world": self._world}))


def is_partial(case: Case, run: RunResult) -> bool:
    """Whether what was sent is a part of a program: it lacks a name, fails with what was made up
    before it walks a graph, gets no data for want of a package, or calls nothing of what it
    defines. A script that walks a graph as it was sent, or shows
    a fault without, is never completed."""
    told = run.trace is not None and bool(run.trace.silent)
    if case.notebook is not None or len_backwards(run) or (told and run.status == "finished"):
        return False
    if case.traceback is not None and case.traceback.family == "other":
        if case.traceback.exception and not _of_growth(case.traceback):
            return False
    if run.status == "raised":
        return is_incomplete(case, run) or _made_up(run)
    return run.status == "finished" and not run.tampered and (_defines(case) or _lacks(run))


def is_incomplete(case: Case, run: RunResult) -> bool:
    """Whether a run ended for want of a name, of what is no notebook."""
    return case.notebook is None and run.raised is not None and run.raised.type in _INCOMPLETE


def _of_growth(given: ParsedTraceback) -> bool:
    """Whether the error says that memory ran out, or the depth of calls: what keeps graphs may do
    so, in an engine that walks them by calls."""
    if given.exception in ("OutOfMemoryError", "RecursionError"):
        return True
    return "out of memory" in given.message.lower()


def _lacks(run: RunResult) -> bool:
    """Whether the run had to do with packages of which nothing is known here."""
    stand_ins = run.trace.stand_ins if run.trace is not None else []
    return any(stand_in.detail.endswith(_UNKNOWN) for stand_in in stand_ins)


def _made_up(run: RunResult) -> bool:
    """Whether data were made up, and autograd has nothing to do with the error: their sizes may be
    what that is about."""
    if run.trace is None or observed(run.trace):
        return False
    given = any(_GIVES.search(stand_in.detail) for stand_in in run.trace.stand_ins)
    return given or any(assumed.kind == "file" for assumed in run.trace.assumed)


def _defines(case: Case) -> bool:
    """Whether the entry defines a function or a class."""
    return _DEFINITION.search(case.project.files[case.project.entry]) is not None


def wanted(case: Case) -> World:
    """The world to look for: one that raises the error of the traceback at a line it names."""
    given = case.traceback
    if given is None or given.family == "other":  # a complaint in words names no error
        return World()
    entry = case.project.entry
    own = [f for f in given.frames if not f.is_library and f.file == entry]
    lines = [f.line for f in own if _stands_there(case, f.line, f.code)]
    message = f"{given.exception}: {given.message}"[:4000]
    return World(wanted=Wanted(message=message, family=given.family, lines=lines[-1:]))


def _stands_there(case: Case, line: int, code: str) -> bool:
    """Whether a frame's line holds the code that the frame shows: the text may be a part only."""
    return bool(code.strip()) and case.project.code(case.project.entry, line) == code.strip()


async def completed_past(
    case: Case, session: Session, plan: Plan | None, mended: Files
) -> tuple[Plan, list[Assumed]] | None:
    """A plan in which the mended text gets through, and what is assumed in that, where it fails in
    this one with what was made up before the error of the text as it was sent: nothing behind that
    had to fit; or fails without one, for want of a name."""
    job = _job(case, World(plan=plan or Plan(), onward=True), mended)
    run = await session.run(job)
    ran = run.status in ("finished", "stopped") and len_backwards(run) > 0
    if not ran or run.trace is None or (found := run.trace.plan) is None:
        return None
    others = plan is None or _choices(found) != _choices(plan)
    return (found, run.trace.assumed) if others else None


def _choices(plan: Plan) -> dict[str, object]:
    return plan.model_dump(exclude={"t", "shows"})


async def completed(case: Case, session: Session) -> tuple[RunResult, Plan]:
    """The text, run in the world that comes nearest to the error, and the plan of that world."""
    run = await session.run(_job(case, wanted(case)))
    plan = run.trace.plan if run.trace is not None else None
    return run, plan or Plan()


async def completed_by(case: Case, session: Session, plan: Plan) -> RunResult:
    """The text as it was sent, run in the world of a plan."""
    return await session.run(_job(case, World(plan=plan)))


def _job(case: Case, world: World, changed: Files | None = None) -> Job:
    return Job(
        files={**case.project.files, **(changed or {})},
        entry=case.project.entry,
        gradients=True,
        world=world,
        stop_after_backwards=CALLS,
        patience_s=PATIENCE_S,
        time_limit_s=case.time_limit_s,
    )
