"""From what a run of the user's own showed to the findings: the service's way, on his machine."""

from __future__ import annotations

import asyncio
import os
import sys
import tempfile
from collections.abc import Awaitable, Callable, Mapping
from dataclasses import dataclass, field
from typing import TypeVar, cast

from app.diagnose import NoProgress, Progress, by_steps, causes_in_trace, diagnose
from app.http.problems import ProblemError
from app.request.reader import RECURSION_DEPTH, Reader, ReadingLimit
from app.request.uploads import decoded
from app.schemas import Cause, DiagnosisRequest, Findings, SourceFile
from gradmend.run_wrapper.exchange_dir import Process
from gradmend.run_wrapper.rerun import Again
from sandbox.collect import run_result
from sandbox.protocol import Job, RunResult, Sandbox, Session
from sandbox.watch.outcome import ProcessOutcome

T = TypeVar("T")

LEAST_S = 60.0
PATIENCE = 4.0  # a repeated run may take so many times as long as the failure took


@dataclass(frozen=True)
class FailedRun:
    """The process that failed, what its run showed, and its sources as they are now: name → text.

    `changed` are files that were written since the process began.
    """

    process: Process
    run: RunResult
    sources: dict[str, str] = field(default_factory=dict)
    entry: str = "main.py"
    changed: tuple[str, ...] = ()

    @property
    def is_whole(self) -> bool:
        """Return True if the run was recorded to its end, by every instrument."""
        ended = self.run.trace.ended if self.run.trace is not None else None
        return not self.process.engine and (ended is None or not ended.truncated)

    @property
    def calls(self) -> int:
        """Return the number of backward calls."""
        trace = self.run.trace
        if trace is None:
            return 0
        return trace.ended.backwards if trace.ended is not None else len(trace.backwards)


def seen_in(process: Process) -> FailedRun:
    """Return a process's records, read and checked."""
    sources: dict[str, str] = {}
    changed = []
    for name, path in process.files.items():
        text, written = _source(path)
        if text is not None and not (written > process.begun and _is_temporary(path)):
            sources[name] = text
            changed += [name] if written > process.begun else []
    code = 1 if process.error not in (None, "SystemExit") else 0
    outcome = ProcessOutcome("exited", code, records=process.records, duration_s=process.seconds)
    run = run_result(Job(files={}), outcome, "own machine")
    return FailedRun(process, run, sources, _entry(process, run, sources), tuple(changed))


def _is_temporary(path: str) -> bool:
    """Return True for a file in the folder for temporary files, unless the user works there. What
    is written there as the program runs is code that a library generates."""
    folder = os.path.realpath(tempfile.gettempdir())
    own = os.path.realpath(os.getcwd())
    return os.path.dirname(path) == folder != own


def _source(path: str) -> tuple[str | None, float]:
    """Return the text of a file, None if it cannot be read as one, and its time of change."""
    try:
        with open(path, "rb") as file:
            text = decoded(path, file.read())
        return text, os.stat(path).st_mtime
    except (OSError, ProblemError):
        return None, 0.0


def _entry(process: Process, run: RunResult, sources: Mapping[str, str]) -> str:
    """Return the program's main file; for a tool, the user's file that the failure began in."""
    if process.main in sources:
        return str(process.main)
    frames = run.raised.frames if run.raised is not None else []
    named = [frame.file for frame in frames if frame.file in sources]
    return next(iter([*named, *sources]), "main.py")


async def findings_of(
    seen: FailedRun,
    again: Again | None,
    progress: Progress,
    early: Early | None = None,
    then: Then | None = None,
) -> Findings:
    """Return the findings; runs go through `again`, and without it fixes are not tried.

    `early` gets the cause that the failed run alone shows, while an interpreter for further runs
    is made ready. `then` may run more, once they are found.
    """
    sys.setrecursionlimit(max(RECURSION_DEPTH, sys.getrecursionlimit()))
    reader = cast(Reader, InProcessReader())
    traced = _request(seen, seen.process.records.decode("utf-8", "replace"))
    if again is None:
        return await by_steps(traced, None, reader, progress)
    try:
        again.begin()
        if early is not None and (causes := await causes_in_trace(traced, reader)):
            await early(causes[0])
        place = cast(
            Sandbox, UserMachine(again)
        )  # it is never asked whether it is ready, nor closed
        request = _request(seen, trace="")
        findings = await diagnose(request, sandbox=place, reader=reader, progress=progress)
        if then is not None:
            await then(again, seen, findings)
        return findings
    finally:
        await again.close()


async def silent_findings_of(
    seen: FailedRun, again: Again | None, progress: Progress, *, patient: bool
) -> Findings:
    """Return the findings of a command that ended well. Unless the user is `patient`, runs are only
    made for a fault that its records show, and for which a fix is known."""
    if again is not None and not patient:
        shown = await findings_of(seen, None, NoProgress())
        if not shown.patches:
            await again.close()
            return shown
    return await findings_of(seen, again, progress)


def _request(seen: FailedRun, trace: str) -> DiagnosisRequest:
    files = [
        SourceFile.model_construct(path=name, content=text, encoding="utf-8")
        for name, text in seen.sources.items()
        if name != seen.entry
    ]
    return DiagnosisRequest.model_construct(
        script=seen.sources.get(seen.entry, ""),
        filename=seen.entry,
        files=files,
        traceback="" if seen.process.failed or seen.process.engine else _traceback_of(seen.run),
        run="auto",
        trace=trace,
        time_limit_s=max(LEAST_S, PATIENCE * seen.process.seconds),
        args=[],
        module=None,
        target=None,
    )


def _traceback_of(run: RunResult) -> str:
    """Return the error that ended a run as Python prints it: without evidence of autograd, its
    message is what there is to go by."""
    failed = run.trace.failed if run.trace is not None else None
    if failed is None:
        return ""
    lines = ["Traceback (most recent call last):"]
    for one in failed.frames:
        lines += [f'  File "{one.file}", line {one.line}, in {one.function}', f"    {one.code}"]
    return "\n".join([*lines, f"{failed.type}: {failed.message}"])


Early = Callable[[Cause], Awaitable[None]]
Then = Callable[[Again, FailedRun, Findings], Awaitable[None]]


class InProcessReader:
    """Reads in this process: the source is the user's own."""

    async def call(
        self,
        function: Callable[..., T],
        *args: object,
        timeout: float,  # noqa: ASYNC109
    ) -> T:
        """Return the function's result. Raise `ReadingLimit`."""
        try:
            async with asyncio.timeout(timeout * 3):
                return await asyncio.to_thread(function, *args)
        except TimeoutError:
            raise ReadingLimit("reading took too long") from None
        except RecursionError:
            raise ReadingLimit("the source is nested too deeply") from None


class UserMachine:
    """The user's machine as a sandbox: one session, and nothing to start or end."""

    def __init__(self, session: Session) -> None:
        self._session = session

    def session(self) -> UserMachine:
        """Return the session for the runs of one diagnosis."""
        return self

    async def __aenter__(self) -> Session:
        return self._session

    async def __aexit__(self, *_: object) -> None:
        return None
