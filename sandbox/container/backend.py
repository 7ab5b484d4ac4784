"""The launcher's side of the containers."""

from __future__ import annotations

import asyncio
import os
from dataclasses import asdict

from sandbox.collect import run_result
from sandbox.container.engine import Engine, EngineError, Shape
from sandbox.container.guesthouse import Guesthouse
from sandbox.environment import ENVIRONMENT
from sandbox.protocol import Job, Readiness, RunResult
from sandbox.readiness import PROBE, judge
from sandbox.walls.limits import Limits
from sandbox.watch.outcome import Outcome
from sandbox.wire import WireError

NAME = "container"


class Containers:
    """Runs each job in a container of its own."""

    name = NAME

    def __init__(
        self,
        *,
        image: str,
        runtime: str,
        ready: int,
        entry: str,
        allow_missing: frozenset[str] = frozenset(),
    ) -> None:
        self._allow_missing = sorted(allow_missing)
        self._ready = ready
        self._shape = Shape(
            image=image,
            runtime=runtime,
            entry=entry,
            environment=ENVIRONMENT,
            limits=Limits(tasks_by_user=False),
            owner=f"{os.uname().nodename}-{os.getpid()}-{os.urandom(4).hex()}",
        )
        self._engine: Engine | None = None
        self._house: Guesthouse | None = None
        self._opening = asyncio.Lock()

    async def run(self, job: Job) -> RunResult:
        """Run one job; `unavailable` when no container can be had or a wall does not stand."""
        try:
            outcome = await self.outcome(job)
        except (WireError, TimeoutError) as error:
            outcome = Outcome("unavailable", reason=str(error) or "the container did not get warm")
        return run_result(job, outcome, NAME)

    async def outcome(self, job: Job, *, probe: bool = False) -> Outcome:
        """Run a job, or the probe instead of it; raises `WireError` when nothing can run."""
        limits = Limits.of(
            job.time_limit_s,
            min(job.memory_mib, self._shape.limits.memory_mib),
            job.output_bytes,
            tasks_by_user=False,
        )
        request = {
            "job": job.model_dump(),
            "limits": asdict(limits),
            "probe": probe,
            "allow_missing": self._allow_missing,
        }
        house = await self._open()
        guest = await house.take()
        try:
            return await guest.run(request)
        finally:
            house.leave(guest)

    async def _open(self) -> Guesthouse:
        async with self._opening:
            if self._house is None:
                try:
                    self._engine = await asyncio.to_thread(Engine)
                except EngineError as error:
                    raise WireError(f"the container engine cannot be reached: {error}") from error
                self._house = Guesthouse(self._engine, self._shape, self._ready)
            return self._house

    async def readiness(self) -> Readiness:
        """Start a real container and have a process look at its walls from within."""
        try:
            outcome = await self.outcome(PROBE, probe=True)
        except (WireError, TimeoutError) as error:
            return Readiness(ready=False, backend=NAME, reason=str(error))
        return judge(outcome, NAME, self._allow_missing)

    async def close(self) -> None:
        house, self._house = self._house, None
        if house is not None:
            await house.close()
        if self._engine is not None:
            self._engine.close()
