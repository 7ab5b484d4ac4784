"""Run incomplete code, and patches of it, in a synthesized harness."""

from __future__ import annotations

import re
from collections.abc import Mapping

from analyzers.tracebacks import ParsedTraceback
from app.request.case import Case
from app.run.outcome import len_backwards
from app.run.run_evidence import observed_evidence
from sandbox.protocol import HarnessRequest, Job, RunResult, Session, WantedError
from sandbox.records import Assumed, HarnessPlan, Trace

CALLS, PATIENCE_S = 20, 0.8  # backward calls, and a while: then a completed run has shown enough
Files = Mapping[str, str]
_UNKNOWN = "its calls do nothing"  # as `sandbox.inside.stubs.null_object` says
_GIVES = re.compile(rf"{_UNKNOWN}|random|noise|synthetic|tables")  # and those that give data
_DEFINITION = re.compile(r"(?:\A|[\r\n\f])(?:def|class)[ \t]++\w++[ \t]*+[(\[:]")  # no backtracking
_NO_HEAD = "'return' outside function"
_OWN = frozenset({"import", "api"})  # what a harness may add to code that is whole without it
_INCOMPLETE = ("NameError", "ImportError", "ModuleNotFoundError")


class HarnessSession:
    """A session whose runs follow the plan of a completed run."""

    def __init__(self, session: Session, plan: HarnessPlan) -> None:
        self._session = session
        self._harness = HarnessRequest(plan=plan)

    async def run(self, job: Job) -> RunResult:
        """Run the job's entry as the part of a program that it is."""
        return await self._session.run(job.model_copy(update={"harness": self._harness}))


def is_partial(case: Case, run: RunResult) -> bool:
    """Return True if the script is incomplete and should be run in a harness.

    It is incomplete if it lacks a name, fails on synthesized data before any backward call, gets no
    data because a package is missing, or calls nothing that it defines. A script that runs backward
    as it was sent, or that shows a silent fault, never gets a harness.
    """
    is_silent = run.trace is not None and bool(run.trace.silent)
    if case.notebook is not None or len_backwards(run) or (is_silent and run.status == "finished"):
        return False
    if case.traceback is not None and case.traceback.family == "other":
        if case.traceback.exception and not _of_growth(case.traceback):
            return False
    if run.status == "raised":
        return is_incomplete(case, run) or _is_synthesized(run)
    return run.status == "finished" and not run.tampered and (_defines(case) or _lacks(run))


def is_incomplete(case: Case, run: RunResult) -> bool:
    """Return True if a run of a script (not of a notebook) ended because a name or module is
    missing, or the head of a function whose body it is.
    """
    if case.notebook is not None or run.raised is None:
        return False
    return run.raised.type in _INCOMPLETE or run.raised.message.startswith(_NO_HEAD)


def _of_growth(given: ParsedTraceback) -> bool:
    """Return True if the error says that memory ran out or that calls nest too deep. A retained
    graph can cause both, the second in a hand-written engine that traverses graphs recursively.
    """
    if given.exception in ("OutOfMemoryError", "RecursionError"):
        return True
    return "out of memory" in given.message.lower()


def is_own(trace: Trace | None) -> bool:
    """Return True if a harness added nothing but imports of what is installed: all else that the
    run shows is the code's own.
    """
    if trace is None or trace.stubs:
        return False
    kinds = {assumed.kind for assumed in trace.assumed}
    return "import" in kinds and kinds <= _OWN


def _lacks(run: RunResult) -> bool:
    """Return True if the run used packages of which nothing is known here."""
    stubs = run.trace.stubs if run.trace is not None else []
    return any(_UNKNOWN in stub.detail for stub in stubs)


def _is_synthesized(run: RunResult) -> bool:
    """Return True if data were synthesized and the error is not autograd's: the synthesized sizes
    may have caused it.
    """
    if run.trace is None or observed_evidence(run.trace):
        return False
    given = any(_GIVES.search(stub.detail) for stub in run.trace.stubs)
    return given or any(assumed.kind == "file" for assumed in run.trace.assumed)


def _defines(case: Case) -> bool:
    """Return True if the entry defines a function or a class."""
    return _DEFINITION.search(case.project.files[case.project.entry]) is not None


def wanted(case: Case) -> HarnessRequest:
    """Return the harness to look for: one in which the script raises the traceback's error at a
    line that the traceback names.
    """
    given = case.traceback
    if given is None or given.family == "other":  # a complaint in words names no error
        return HarnessRequest()
    has_backward = any(m.names.defines("backward") for m in case.project.modules.values())
    if given.family == "engine" and given.kind is not None and not has_backward:
        return HarnessRequest()  # of a custom Function that was not sent, not of an engine's values
    entry = case.project.entry
    own = [f for f in given.frames if not f.is_library and f.file == entry]
    lines = [f.line for f in own if _is_at(case, f.line, f.code)]
    message = f"{given.exception}: {given.message}"[:4000]
    return HarnessRequest(
        wanted=WantedError(message=message, family=given.family, lines=lines[-1:])
    )


def _is_at(case: Case, line: int, code: str) -> bool:
    """Return True if a frame's line in the script holds the code that the frame shows. The script
    may be only a part of the file in which the error arose.
    """
    return bool(code.strip()) and case.project.code(case.project.entry, line) == code.strip()


async def completed_past(
    case: Case, session: Session, plan: HarnessPlan | None, patched: Files
) -> tuple[HarnessPlan, list[Assumed]] | None:
    """Return a plan in which the patched script runs through, with what that plan assumes; None if
    there is none.

    It is needed if the patched script fails on synthesized values past the original's error
    (nothing had to fit there), or if it fails without a harness because a name is missing.
    """
    job = _job(case, HarnessRequest(plan=plan or HarnessPlan(), onward=True), patched)
    run = await session.run(job)
    ran = run.status in ("finished", "stopped") and len_backwards(run) > 0
    if not ran or run.trace is None or (found := run.trace.plan) is None:
        return None
    others = plan is None or _choices(found) != _choices(plan)
    return (found, run.trace.assumed) if others else None


def _choices(plan: HarnessPlan) -> dict[str, object]:
    return plan.model_dump(exclude={"t", "shows"})


async def completed(case: Case, session: Session) -> tuple[RunResult, HarnessPlan]:
    """Run the script in the harness that comes nearest to the error. Return the run and the
    harness's plan.
    """
    run = await session.run(_job(case, wanted(case)))
    plan = run.trace.plan if run.trace is not None else None
    return run, plan or HarnessPlan()


async def completed_by(case: Case, session: Session, plan: HarnessPlan) -> RunResult:
    """Run the script as it was sent in the harness that a plan describes."""
    return await session.run(_job(case, HarnessRequest(plan=plan)))


def _job(case: Case, harness: HarnessRequest, changed: Files | None = None) -> Job:
    return Job(
        files={**case.project.files, **(changed or {})},
        entry=case.project.entry,
        gradients=True,
        harness=harness,
        stop_after_backwards=CALLS,
        patience_s=PATIENCE_S,
        time_limit_s=case.time_limit_s,
    )
