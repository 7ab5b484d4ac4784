"""Implement the launcher's side of the containers."""

from __future__ import annotations

import asyncio
import contextlib
import os
from collections.abc import AsyncIterator

from sandbox.container.docker_engine import DockerEngine, EngineError, Shape
from sandbox.container.pool import ContainerPool
from sandbox.container.session import NAME, ContainerSession
from sandbox.environment import ENVIRONMENT
from sandbox.protocol import Job, Readiness, RunResult
from sandbox.readiness import PROBE, judge
from sandbox.walls.limits import Limits
from sandbox.wire import WireError


class Containers:
    """Runs each session in a container of its own, and a job that belongs to none in another."""

    abreast = 1

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
        self._engine: DockerEngine | None = None
        self._house: ContainerPool | None = None
        self._opening = asyncio.Lock()

    async def run(self, job: Job) -> RunResult:
        """Run one job; the result is `unavailable` if no container is available or a wall does not
        hold.
        """
        async with self.session() as session:
            return await session.run(job)

    @contextlib.asynccontextmanager
    async def session(self) -> AsyncIterator[ContainerSession]:
        """Yield a session that holds one container from its first run on; its
        runs are sequential.
        """
        session = ContainerSession(self._open, self._shape.limits, self._allow_missing)
        try:
            yield session
        finally:
            session.close()

    async def _open(self) -> ContainerPool:
        async with self._opening:
            if self._house is None:
                try:
                    self._engine = await asyncio.to_thread(DockerEngine)
                except EngineError as error:
                    raise WireError(f"the container engine cannot be reached: {error}") from error
                self._house = ContainerPool(self._engine, self._shape, self._ready)
            return self._house

    async def readiness(self) -> Readiness:
        """Start a real container and have a process look at its walls from within."""
        try:
            async with self.session() as session:
                outcome = await session.outcome(PROBE, probe=True)
        except (WireError, TimeoutError) as error:
            return Readiness(ready=False, backend=NAME, reason=str(error))
        return judge(outcome, NAME, self._allow_missing)

    async def close(self) -> None:
        house, self._house = self._house, None
        if house is not None:
            await house.close()
        if self._engine is not None:
            self._engine.close()
