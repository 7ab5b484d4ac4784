"""A sandbox that replays recordings, and starts the real one where there is none."""

from __future__ import annotations

import asyncio
import contextlib
from collections.abc import AsyncIterator, Callable, Iterator
from concurrent.futures import ThreadPoolExecutor
from dataclasses import dataclass, field
from typing import TypeVar

from app.repair import search
from app.request.reader import InlineReader
from sandbox.client import EmbeddedSandbox
from sandbox.protocol import Job, Readiness, RunResult, Sandbox, Session
from tests.environment import SCRIPTS_PYTHON
from tests.recorded.digests import tracer_digest
from tests.recorded.packs import Run
from tests.recorded.recorder import Recorder
from tests.recorded.results import answer_of, key_of, request_of

AT_ONCE = search.AT_ONCE
WAITED = 0.2  # of the time of a run that timed out: it was the machine's fault
T = TypeVar("T")


@dataclass
class RecordedSession:
    """Replays a job that is recorded, and has the real sandbox run any other."""

    real: Session
    recorder: Recorder
    _under_way: set[asyncio.Task[RunResult]] = field(default_factory=set)

    async def run(self, job: Job) -> RunResult:
        """Return the result in the form in which it is recorded, whether it is or not."""
        key = self.recorder.turn(key_of(job))
        answer = self.recorder.recall(key, tracer_digest())
        if answer is not None:
            return RunResult.model_validate(answer)
        task = asyncio.create_task(self._made(key, job))
        if self.recorder.mode != "record":
            try:
                return await task
            finally:
                task.cancel()
        self._under_way.add(task)
        return await asyncio.shield(task)  # to its end, even if nobody waits: it may be asked again

    async def settle(self) -> None:
        """Wait for runs that go on although nobody waits for them any more."""
        await asyncio.gather(*self._under_way, return_exceptions=True)
        self._under_way.clear()

    async def _made(self, key: str, job: Job) -> RunResult:
        result = await self.real.run(job)
        answer = answer_of(result)
        if result.status == "unavailable":
            return result
        if result.status == "timed_out" and result.waited_s > WAITED * result.duration_s:
            self.recorder.crowded = True
        self.recorder.keep(key, Run(request_of(job), answer, tracer_digest()))
        return result if self.recorder.mode == "live" else RunResult.model_validate(answer)


class ThreadReader(InlineReader):
    """Reads in one thread of this process: workers take seconds to start, and limit what tests of
    other things do not exceed. Python 3.11 may refuse to parse in two threads at once."""

    _thread = ThreadPoolExecutor(max_workers=1)

    async def call(
        self,
        function: Callable[..., T],
        *args: object,
        timeout: float,  # noqa: ASYNC109
    ) -> T:
        """Call the function; `timeout` is not enforced."""
        return await asyncio.get_running_loop().run_in_executor(self._thread, function, *args)


class RecordedSandbox:
    """The embedded sandbox, which answers from recordings first."""

    def __init__(self, recorder: Recorder, real: Sandbox | None = None) -> None:
        self.recorder = recorder
        self.real = real or EmbeddedSandbox(
            python=SCRIPTS_PYTHON
        )  # starts nothing before the first run
        self._open = 0

    async def run(self, job: Job) -> RunResult:
        """Run one job by itself."""
        async with self.session() as session:
            return await session.run(job)

    @contextlib.asynccontextmanager
    async def session(self) -> AsyncIterator[Session]:
        """For the runs of one request."""
        async with self.real.session() as real:
            session = RecordedSession(real, self.recorder)
            with self._in_turns():
                yield session
            await session.settle()

    @contextlib.contextmanager
    def _in_turns(self) -> Iterator[None]:
        """Try candidates one by one while a session is open, so that which runs are asked for does
        not depend on how long others take; what is found never does."""
        self._open += 1
        if self.recorder.mode != "live":
            search.AT_ONCE = 1
        try:
            yield
        finally:
            self._open -= 1
            if not self._open:
                search.AT_ONCE = AT_ONCE

    async def readiness(self) -> Readiness:
        """Ask the real sandbox."""
        return await self.real.readiness()

    async def close(self) -> None:
        """End the real sandbox, if it was started."""
        await self.real.close()
