"""The script as it was sent, beside which every patch of it is judged."""

from __future__ import annotations

import asyncio
from collections.abc import Mapping

from app.run import outcome
from sandbox.protocol import Job, Reference, RunResult, Session

PATIENCE_S = 0.2  # a run past the failing point goes on for so long, then has shown enough
BUDGET = 2.0  # of the time limit, for all runs: those of the script, then those of its patches


class Original:
    """The script as it was sent, with what its own runs showed, each made once when first asked.

    A reference is the run of its own mathematics: parameters held fixed and every graph kept, or
    what lies behind an earlier backward counted as constant.
    """

    def __init__(
        self,
        files: Mapping[str, str],
        entry: str,
        run: RunResult,
        session: Session,
        time_limit_s: float,
        spent_s: float = 0.0,
    ) -> None:
        self.files = files
        self.run = run
        self._entry = entry
        self._session = session
        self._limit_s = time_limit_s
        self._ends = asyncio.get_running_loop().time() + BUDGET * time_limit_s - spent_s
        self._references: dict[Reference, asyncio.Task[RunResult]] = {}

    @property
    def failing_call(self) -> int:
        """Backward calls that the original completed before it failed."""
        return outcome.len_backwards(self.run)

    @property
    def time_left_s(self) -> float:
        """What is left of the time for all runs."""
        return self._ends - asyncio.get_running_loop().time()

    def expect(self, reference: Reference) -> None:
        """Begin the run of a reference, unless it was begun: it will be wanted."""
        if reference not in self._references:
            wanted = self.job(self.files).model_copy(
                update={"reference": reference, "patience_s": 0.0}
            )
            self._references[reference] = asyncio.create_task(self.attempt(wanted))

    async def held(self, reference: Reference) -> RunResult:
        """The reference, run when it is first wanted or expected."""
        self.expect(reference)
        return await asyncio.shield(self._references[reference])

    async def reaches(self, reference: Reference) -> bool:
        """Whether the reference gets past the call that failed."""
        calls = self.failing_call + (self.run.status == "raised")
        return outcome.len_backwards(await self.held(reference)) >= max(calls, 1)

    def job(self, files: Mapping[str, str]) -> Job:
        """A traced run of these files, which ends once it has shown enough."""
        return Job(
            files={**self.files, **files},
            entry=self._entry,
            gradients=True,
            stop_after_backwards=max(2 * self.failing_call + 8, 24),
            patience_s=PATIENCE_S,
            time_limit_s=self._limit_s,
        )

    async def attempt(self, job: Job) -> RunResult:
        """Run it within the time that is left; once more, where it was killed or had no room."""
        result = await self._run(job)
        if outcome.says_nothing(result) and result.status not in ("timed_out", "stopped"):
            result = await self._run(job)
        return result

    async def _run(self, job: Job) -> RunResult:
        left = self.time_left_s
        if left < 0.5:
            return RunResult(status="unavailable", reason="the time for trying patches was used up")
        limit = min(job.time_limit_s, left)
        return await self._session.run(job.model_copy(update={"time_limit_s": limit}))

    def close(self) -> None:
        """End the references that nobody waits for any more."""
        for task in self._references.values():
            task.cancel()
