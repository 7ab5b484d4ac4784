"""How much of a diagnosis's time its runs have taken."""

from __future__ import annotations

import asyncio
from dataclasses import dataclass, field

from sandbox.protocol import Job, RunResult, Session


@dataclass
class Spent:
    """Adds up the time in which at least one run went on. What a run waited for, its turn or a
    processor, is the doing of others and does not count."""

    _runs: list[tuple[float, float]] = field(default_factory=list)

    @property
    def seconds(self) -> float:
        """In which runs that have ended by now went on."""
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
        """The session, with every run counted."""
        return session and Counting(session, self)


@dataclass(frozen=True)
class Counting:
    """A session whose runs are counted."""

    session: Session
    spent: Spent

    async def run(self, job: Job) -> RunResult:
        """Run it, and count it."""
        result = await self.session.run(job)
        self.spent.add(result)
        return result
