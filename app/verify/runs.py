"""Make the runs of a verification, all with the same number of steps."""

from __future__ import annotations

import asyncio
from collections.abc import Mapping
from dataclasses import dataclass, field

from app.run import outcome
from app.verify.compared_version import Version
from sandbox.protocol import Job, RunResult, Session

SHARE = 0.25  # of the time limit, in which the first run takes the steps that are compared
BEYOND = 8  # steps past twice the original's, after which a changed version has taken more

Pair = tuple[RunResult, RunResult]


@dataclass
class Runs:
    """Runs versions in a session. `steps`: as many as are compared at most; the first run of the
    original finds out how many there is time for."""

    session: Session
    time_limit_s: float
    steps: int | None = None
    wanted: int | None = field(init=False)  # of the steps, by whoever asks

    def __post_init__(self) -> None:
        self.wanted = self.steps

    async def first(self, version: Version) -> RunResult:
        """Run the original, and bound all later runs by the steps that it took."""
        limit = {"stop_after_steps": self.steps, "stop_after_s": SHARE * self.time_limit_s}
        result = await self._run(self._job(version, limit))
        taken = _steps(result)
        if result.status == "stopped" and taken:
            self.steps = taken
        elif self.steps is None and taken:
            self.steps = 2 * taken + BEYOND
        return result

    async def both(self, before: Version, after: Version, **how: object) -> Pair:
        """Run both versions at once, in the same way."""
        one, other = await asyncio.gather(self.plain(before, **how), self.plain(after, **how))
        return one, other

    async def plain(self, version: Version, **how: object) -> RunResult:
        """Run a version as it is, or as `how` says, for the same number of steps."""
        return await self._run(self._job(version, {"stop_after_steps": self.steps, **how}))

    def _job(self, version: Version, how: Mapping[str, object]) -> Job:
        return version.job(self.time_limit_s).model_copy(update={"state": True, **how})

    async def _run(self, job: Job) -> RunResult:
        result = await self.session.run(job)
        if outcome.is_inconclusive(result) and result.status not in ("timed_out", "stopped"):
            result = await self.session.run(job)
        return result


def _steps(result: RunResult) -> int:
    """Return how many steps a run took; for a script without optimizers, how
    many backward calls.
    """
    ended = result.trace.ended if result.trace is not None else None
    return (ended.steps or ended.backwards) if ended is not None else 0
