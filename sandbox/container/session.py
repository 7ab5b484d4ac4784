"""Run the jobs of one request, one after the other in one container."""

from __future__ import annotations

import asyncio
import contextlib
from collections.abc import Awaitable, Callable
from typing import Any

from sandbox.collect import run_result
from sandbox.container.pool import ContainerPool, PooledContainer
from sandbox.protocol import Job, RunResult
from sandbox.walls.limits import Limits
from sandbox.watch.outcome import ProcessOutcome
from sandbox.watch.request import request_for
from sandbox.wire import WireError

NAME = "container"
_TRIES = 3


class ContainerSession:
    """Keeps a container from run to run; after one that leaves any doubt it takes another."""

    def __init__(
        self,
        house: Callable[[], Awaitable[ContainerPool]],
        limits: Limits,
        allow_missing: list[str],
    ) -> None:
        self._open_house = house
        self._limits = limits
        self._allow_missing = allow_missing
        self._house: ContainerPool | None = None
        self._guest: PooledContainer | None = None
        self._over = False

    async def prepare(self) -> None:
        """Get a container for the next run; if none is available, that run reports why."""
        with contextlib.suppress(WireError, TimeoutError):
            await self._fit_guest()

    async def run(self, job: Job) -> RunResult:
        """Run one job; the result is `unavailable` if no container is available or a wall does not
        hold.
        """
        try:
            outcome = await self.outcome(job)
        except (WireError, TimeoutError) as error:
            outcome = ProcessOutcome(
                "unavailable", reason=str(error) or "the container did not get warm"
            )
        return await asyncio.to_thread(run_result, job, outcome, NAME)

    async def outcome(self, job: Job, *, probe: bool = False) -> ProcessOutcome:
        """Run a job, or the probe instead of it; raises `WireError` when nothing can run.

        One at a time. Cancelling the awaiting task ends the container with the run.
        """
        limits = Limits.of(
            job.time_limit_s,
            min(job.memory_mib, self._limits.memory_mib),
            job.output_bytes,
            tasks_by_user=False,
        )
        request = request_for(job, limits, self._allow_missing, probe=probe)
        for _ in range(_TRIES - 1):
            try:
                return await self._tried(request)
            except WireError:
                # Killed under the run, by the kernel or a person: a fresh one gets another try.
                if self._over or self._house is None:
                    raise
        return await self._tried(request)

    async def _tried(self, request: dict[str, Any]) -> ProcessOutcome:
        guest = await self._fit_guest()
        try:
            outcome = await guest.run(request)
        except BaseException:
            self._leave()
            raise
        if outcome.ending != "exited":
            self._leave()
        return outcome

    async def _fit_guest(self) -> PooledContainer:
        """Return the current container if it is as it was before its last run; else another."""
        try:
            if self._guest is None or not await self._guest.fit():
                self._leave()
                self._house = await self._open_house()
                self._guest = await self._house.take()
            if self._over:
                raise WireError("the session is over")
        except BaseException:
            self._leave()
            raise
        return self._guest

    def close(self) -> None:
        """End the session, with a run that it may have in hand."""
        self._over = True
        self._leave()

    def _leave(self) -> None:
        """Give up the container, if there is one; it is removed in the background."""
        if self._guest is not None and self._house is not None:
            self._house.leave(self._guest)
        self._guest = None
