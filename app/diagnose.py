"""Diagnose one request: from what was sent to what was found.

read → reproduce → explain → propose → verify, and again on the patched script while it shows
another fault after the first one is fixed.
"""

from __future__ import annotations

import asyncio
import contextlib
from typing import TYPE_CHECKING, Protocol

from analyzers.request.causes import RankedCause
from app.present import report
from app.repair.repairing import RepairResult, has_passed, repair_faults, stopped_short
from app.request.case import READING_LIMIT_S, Case, read_case
from app.request.launch import Launch
from app.request.reader import InlineReader, Reader, ReadingLimit, import_analyzers
from app.run.clock import StageClock
from app.run.explain import explain
from app.run.observation import Observation, as_observed
from app.run.own_error import with_own_error
from app.run.reproduce import observe, observed_past
from app.run.sandboxes import session_of
from app.run.time_budget import TimeBudget
from app.run.verifying_session import VerifyingSession
from app.schemas import Cause, DiagnosisRequest, Findings, Patch
from sandbox.protocol import Sandbox, Session

if TYPE_CHECKING:
    from app.assistant import Assistant
    from app.repair.tested_candidate import TestedCandidate


class Progress(Protocol):
    """Receive reports of how far a diagnosis has come."""

    async def stage(self, stage: str, done: int, total: int, message: str) -> None: ...

    async def cause(self, cause: Cause) -> None: ...

    async def patch(self, patch: Patch) -> None: ...


class NoProgress:
    """A `Progress` that ignores every report."""

    async def stage(self, stage: str, done: int, total: int, message: str) -> None: ...

    async def cause(self, cause: Cause) -> None: ...

    async def patch(self, patch: Patch) -> None: ...


async def diagnose(
    request: DiagnosisRequest,
    *,
    sandbox: Sandbox | None,
    reader: Reader,
    progress: Progress,
    assistant: Assistant | None = None,
) -> Findings:
    """Diagnose one request. `sandbox=None` stops after static analysis. An `assistant` is asked for
    a fix if none of the generated patches is safe.

    Never raises for anything that the request holds: the findings say what could not be read or
    run. Cancelling the task ends every run that it started.
    """
    await progress.stage("reading", 0, 1, "Reading the script")
    if request.run == "never" or sandbox is None:
        with contextlib.suppress(ReadingLimit):  # single steps may still be within their limits
            return await _only_read(request, reader, progress)
        sandbox = None
    return await by_steps(request, sandbox, reader, progress, assistant)


async def by_steps(
    request: DiagnosisRequest,
    sandbox: Sandbox | None,
    reader: Reader,
    progress: Progress,
    assistant: Assistant | None = None,
) -> Findings:
    """Return the findings of a request, whose limits are not checked; see `diagnose`."""
    if not (request.script.strip() or request.traceback.strip()):
        return Findings(verdict="healthy", basis="reading", summary="The file is empty.")
    clock, budget = StageClock(), TimeBudget()
    with clock.stage("read"):
        case = await read_case(request, reader)
    async with session_of(sandbox) as warm:
        session = budget.counting(Launch.of(request).around(warm))
        if session is not None:
            session = VerifyingSession(session, case.project, reader)
            await progress.stage("reproducing", 0, 1, "Running the script")
        with clock.stage("reproduce"):
            seen = await observe(case, session)
        with clock.stage("read"):
            case = await with_own_error(case, seen, reader)
            causes = await explain(case, seen, reader)
        for cause in causes:
            await progress.cause(report.cause(cause, case))
        with clock.stage("verify"):
            seen, result = await _repaired(case, seen, causes, session, reader, progress, budget)
            if has_passed(result):
                from app.repair.no_effect import without_idle_terms  # not for who only reads

                seen, result = await without_idle_terms(case, seen, result, session, budget)
            if assistant is not None and session is not None:
                await _ask(assistant, case, seen, result, session, reader, progress, budget)
            for patch in await asyncio.to_thread(report.patches, case, result):
                await progress.patch(patch)
                await asyncio.sleep(0)
    return await asyncio.to_thread(report.findings, case, seen, result, clock)


async def causes_in_trace(request: DiagnosisRequest, reader: Reader) -> list[Cause]:
    """Return the causes that the request's own trace shows, before anything is run."""
    case = await read_case(request, reader)
    seen = await observe(case, None)
    return [report.cause(cause, case) for cause in await explain(case, seen, reader)]


async def _only_read(request: DiagnosisRequest, reader: Reader, progress: Progress) -> Findings:
    """Return the findings of static analysis alone, computed in one call to a reader process."""
    asked = request.model_dump_json()
    found = Findings.model_validate_json(
        await reader.call(read_alone, asked, timeout=READING_LIMIT_S)
    )
    for cause in found.causes:
        await progress.cause(cause)
    for patch in found.patches:
        await progress.patch(patch)
    return found


def read_alone(asked: str) -> str:
    """Diagnose a request in this process without running anything. Takes a `DiagnosisRequest` as
    JSON and returns `Findings` as JSON.
    """
    request = DiagnosisRequest.model_validate_json(asked)
    found = asyncio.run(by_steps(request, None, InlineReader(), NoProgress()))
    return found.model_dump_json()


def prepare_reader() -> None:
    """Import the modules that reader processes need, including this one."""
    import_analyzers()


async def _repaired(
    case: Case,
    seen: Observation,
    causes: list[RankedCause],
    session: Session | None,
    reader: Reader,
    progress: Progress,
    budget: TimeBudget,
) -> tuple[Observation, RepairResult]:
    """Try the candidates, report each patch that passes at once, and return all trials in order.

    The harness around incomplete code may support the code only up to the error. If the best
    candidate gets past the error and then fails on the harness, find a harness that supports the
    patched code and try the candidates again in it. Keep the second result only if a patch passes
    there.
    """

    async def passed(trial: TestedCandidate) -> None:
        await progress.patch(await asyncio.to_thread(report.patch, trial, case))

    async def tried(seen: Observation) -> RepairResult:
        within = as_observed(session, case, seen)
        return await repair_faults(
            case, seen, causes, within, reader, progress.stage, passed, budget
        )

    result = await tried(seen)
    stopped = stopped_short(result, case.project.files)
    if session is not None and stopped is not None and budget.seconds < case.time_limit_s:
        past = await observed_past(case, seen, stopped.candidate.files, stopped.run, session)
        further = await tried(past) if past is not None else None
        if past is not None and further is not None and has_passed(further):
            seen, result = past, further
    return seen, result


async def _ask(
    assistant: Assistant,
    case: Case,
    seen: Observation,
    result: RepairResult,
    session: Session,
    reader: Reader,
    progress: Progress,
    budget: TimeBudget,
) -> None:
    """Ask the assistant for a fix if none of the generated patches is safe, and add its fix if it
    passes.
    """
    from app.assisted import Asking  # only where one is configured

    within = as_observed(session, case, seen)
    if within is None or not result.causes or not seen.from_run:
        return
    cause = report.cause(result.causes[0], case)
    asking = Asking(assistant, case, seen, within, reader, progress.stage, budget)
    await asking.add_to(result, cause)
