"""One verification, from two versions of a project to what the change does to the training."""

from __future__ import annotations

import asyncio
from collections.abc import Iterable
from dataclasses import dataclass

from analyzers.request.syntax import SyntaxFault, new_fault
from app.change_schemas import ChangeFindings, ChangeRequest, ProjectVersion
from app.diagnose import Progress
from app.present.run_environment import environment_of
from app.request.case import READING_LIMIT_S, Case, read_case
from app.request.change_versions import as_diagnosis
from app.request.reader import Reader, ReadingLimit
from app.run.clock import StageClock
from app.run.completion import is_partial
from app.run.observation import Observation, as_observed
from app.run.reproduce import observe
from app.run.sandboxes import session_of
from app.schemas import Diagnosis, Findings, Patch
from app.verdict import Verdict
from app.verify import Version, verify
from sandbox.protocol import Job, RunResult, Sandbox, Session
from sandbox.records import Trace

KEEPS = {"same": 0, "truncated": 1, "changed": 2, "breaks": 3}
"""How much of the training a change keeps, and a patch by what it does to the gradients."""

NOT_RUN = (
    "Nothing was compared: scripts are not run here (GRADMEND_SANDBOX is `none`), and what a "
    "change does to the training shows only in runs."
)


async def verify_change(
    request: ChangeRequest, *, sandbox: Sandbox | None, reader: Reader, progress: Progress
) -> ChangeFindings:
    """Return what a change does to the training. Never raises for anything the request holds.
    Cancelling the task ends every run that it started."""
    clock = StageClock()
    await progress.stage("reading", 0, 1, "Reading both versions")
    with clock.stage("read"):
        before, after = await asyncio.gather(
            *(_read(version, request, reader) for version in (request.before, request.after))
        )
        error = await _new_syntax_error(before, after, reader)
    if error:
        return ChangeFindings(verdict="breaks", summary=f"{error} Nothing was run.")
    if sandbox is None:
        return ChangeFindings(verdict="not_comparable", summary=NOT_RUN)
    async with session_of(sandbox) as warm:
        assert warm is not None
        session = _Watched(warm)
        with clock.stage("verify"):
            comparing = _ReadVersions(request, before, after, reader, progress)
            verdict, assumed = await comparing.compare(session)
    found = ChangeFindings(**dict(verdict), timings_ms=clock.timings())
    if before.fault is not None:
        error = _syntax_error(before.project.entry, before.fault)
        found.notes.append(f"before the change: {error} That line was repaired or left out.")
    found.notes += assumed
    found.environment = environment_of(before.project.files, session.trace)
    return found


@dataclass
class _Watched:
    """A session that keeps the first run, and the first trace, which says what it ran with."""

    session: Session
    first: RunResult | None = None
    trace: Trace | None = None

    async def run(self, job: Job) -> RunResult:
        """Run it."""
        result = await self.session.run(job)
        self.first = self.first or result
        self.trace = self.trace or result.trace
        return result


async def _read(version: ProjectVersion, request: ChangeRequest, reader: Reader) -> Case:
    """Return one version as a case: a notebook's cells as a script, a pasted part as Python."""
    return await read_case(as_diagnosis(version, request), reader)


async def _new_syntax_error(before: Case, after: Case, reader: Reader) -> str:
    """Return the syntax error that the change makes, with its place; empty if it makes none."""
    sent = _sent(before, after.project.entry), _sent(after, after.project.entry)
    try:
        fault = await reader.call(new_fault, *sent, timeout=READING_LIMIT_S)
    except ReadingLimit:
        return ""
    return _syntax_error(*fault) if fault is not None else ""


def _syntax_error(path: str, fault: SyntaxFault) -> str:
    return f"{path}:{fault.line}:{fault.column}: syntax error: {fault.message}."


def _sent(case: Case, entry: str) -> dict[str, str]:
    """Return a version's sources as they were sent, the script under the name `entry`."""
    sent = {path: pasted.sent for path, pasted in case.pasted.items()}
    texts = {**case.project.files, **sent}
    return {**texts, entry: texts[case.project.entry]}


@dataclass(frozen=True)
class _ReadVersions:
    """The comparison of two versions that were read."""

    request: ChangeRequest
    before: Case
    after: Case
    reader: Reader
    progress: Progress

    async def compare(self, session: _Watched) -> tuple[Verdict, Iterable[str]]:
        """Return the verdict, and what was assumed.

        A part of a program, or a notebook whose cells ran in another order, is compared in the
        harness that its diagnosis would use.
        """
        verdict = await self._verdict(session)
        partial = session.first is not None and is_partial(self.before, session.first)
        if verdict.verdict != "not_comparable" and not partial:
            return verdict, ()
        await self.progress.stage("reproducing", 0, 1, "Completing what was not sent")
        seen = await observe(self.before, session)
        within = as_observed(session, self.before, seen)
        if within is session or within is None:
            return verdict, ()
        return await self._verdict(within), _assumed(seen)

    async def _verdict(self, session: Session) -> Verdict:
        request = self.request
        return await verify(
            _version(request, self.before, request.before),
            _version(request, self.after, request.after),
            session,
            time_limit_s=request.time_limit_s,
            steps=request.steps,
            progress=self.progress.stage,
            reader=self.reader,
        )


def _version(request: ChangeRequest, case: Case, sent: ProjectVersion) -> Version:
    data = {f.path: f.content for f in sent.files if f.encoding == "base64"}
    return Version(
        case.project.files, case.project.entry, tuple(request.args), request.module, data
    )


def _assumed(seen: Observation) -> Iterable[str]:
    """Return what was synthesized so that a part of a program could run."""
    listed = seen.trace.assumed if seen.trace is not None else []
    return [f"Assumed: {one.text}" for one in listed[:8]]


def better_of(found: ChangeFindings, diagnosed: Findings | Diagnosis | None) -> Patch | None:
    """Return our own fix of the same script where it passed and keeps more of the training."""
    if diagnosed is None or found.verdict not in KEEPS:
        return None
    for patch in diagnosed.patches:
        if patch.verification.status == "passed" and patch.gradients in KEEPS:
            return patch if KEEPS[patch.gradients] < KEEPS[found.verdict] else None
    return None
