"""Measure the time that the runs of a diagnosis take."""

from __future__ import annotations

import asyncio
from dataclasses import dataclass, field

from sandbox.protocol import Job, RunResult, Session


@dataclass
class TimeBudget:
    """Sum up the time during which at least one run was in progress. Time spent waiting for a turn
    or a processor does not count.
    """

    _runs: list[tuple[float, float]] = field(default_factory=list)

    @property
    def seconds(self) -> float:
        """Return the time during which runs that have ended were in progress, in seconds."""
        total, until = 0.0, float("-inf")
        for began, ended in sorted(self._runs):
            total += max(0.0, ended - max(began, until))
            until = max(until, ended)
        return total

    def add(self, result: RunResult) -> None:
        """Count a run that ended just now."""
        now = asyncio.get_running_loop().time()
        self._runs.append((now - result.ran_s, now))

    def counting(self, session: Session | None) -> Session | None:
        """Return a session that counts every run."""
        return session and Counting(session, self)


@dataclass(frozen=True)
class Counting:
    """A session whose runs are counted."""

    session: Session
    budget: TimeBudget

    async def run(self, job: Job) -> RunResult:
        """Run the job and count its time."""
        result = await self.session.run(job)
        self.budget.add(result)
        return result
