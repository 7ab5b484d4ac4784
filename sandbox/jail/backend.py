"""Implement the launcher's side of the jail: keep warm parents, and request runs from them."""

from __future__ import annotations

import asyncio
import contextlib
from collections.abc import AsyncIterator
from typing import Self

from sandbox import preload
from sandbox.collect import run_result
from sandbox.jail import zygote
from sandbox.jail.parents import Parent, Zygote
from sandbox.protocol import Job, Readiness, RunResult
from sandbox.readiness import PROBE, judge
from sandbox.walls.limits import Limits
from sandbox.watch.outcome import ProcessOutcome
from sandbox.watch.request import request_for
from sandbox.wire import WireError

NAME = "jail"
_TRIES = 3


class Jail:
    """Runs jobs in jails forked from warm parents: one that has imported torch, and for each group
    of `sandbox.preload` one that has imported its packages, too, once a job asks for it."""

    abreast = None

    def __init__(
        self,
        *,
        allow_missing: frozenset[str] = frozenset(),
        runs_per_zygote: int = 200,
        entry: str = zygote.ENTRY,
    ) -> None:
        self._allow_missing = sorted(allow_missing)
        self._plain = Parent(entry, runs_per_zygote)
        self._groups = {name: Parent(entry, runs_per_zygote, name) for name in preload.GROUPS}

    async def run(self, job: Job) -> RunResult:
        """Run one job; `unavailable` when no zygote can be had or a wall cannot be raised."""
        try:
            outcome = await self.outcome(job)
        except WireError as error:
            outcome = ProcessOutcome("unavailable", reason=str(error))
        return await asyncio.to_thread(run_result, job, outcome, NAME)

    def warm(self) -> None:
        """Begin to import torch in the parent of all runs but those that want more packages."""
        self._plain.ready()

    @contextlib.asynccontextmanager
    async def session(self) -> AsyncIterator[Self]:
        """Yield the jail itself: every run has fresh walls, and runs may be concurrent."""
        yield self

    async def prepare(self) -> None:
        """Do nothing: a session needs no preparation."""

    async def outcome(self, job: Job, *, probe: bool = False) -> ProcessOutcome:
        """Run a job, or the probe instead of it; raises `WireError` when nothing can run."""
        limits = Limits.of(job.time_limit_s, job.memory_mib, job.output_bytes)
        request = request_for(job, limits, self._allow_missing, probe=probe)
        for _ in range(_TRIES - 1):
            parent, chosen = await self._parent_for(job)
            with contextlib.suppress(WireError):
                return await chosen.run(request)
            # It or the run's watcher was killed, by the kernel or by a user. Its keeper may not
            # know yet, so it is asked for nothing more: a fresh one gets another try.
            parent.leave(chosen)
        return await (await self._plain.warm()).run(request)

    async def _parent_for(self, job: Job) -> tuple[Parent, Zygote]:
        """Return where a job is forked from. It never waits for the parent of a group: until that
        is warm, a script imports its packages itself."""
        if (group := preload.wanted(job)) is not None:
            if (ready := self._groups[group].ready()) is not None:
                return self._groups[group], ready
        return self._plain, await self._plain.warm()

    async def readiness(self) -> Readiness:
        """Raise every wall around a real process and have it look at them from within."""
        try:
            outcome = await self.outcome(PROBE, probe=True)
        except WireError as error:
            return Readiness(ready=False, backend=NAME, reason=str(error))
        return judge(outcome, NAME, self._allow_missing)

    async def close(self) -> None:
        for parent in (self._plain, *self._groups.values()):
            await parent.close()
