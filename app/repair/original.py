"""The script as it was sent, beside which every patch of it is judged."""

from __future__ import annotations

import asyncio
from collections.abc import Mapping
from dataclasses import dataclass

from app.repair.effects import compare
from app.run import outcome
from app.run.spent import Counting, Spent
from sandbox.protocol import Job, Reference, RunResult, Session
from sandbox.records import Trace

PATIENCE_S = 0.2  # a run past the failing point goes on for so long, then has shown enough
BUDGET = 2.0  # of the time limit, for all runs: those of the script, then those of its patches


@dataclass(frozen=True)
class Mathematics:
    """The run that shows the original's own gradients, and whether it gets past the failure.

    `constant`: another one, in which what `autograd.grad` gives is a constant, where the script
    asks for no graph of it and the loss's own gradient is another one.
    """

    run: RunResult
    reaches: bool
    constant: Trace | None = None


class Original:
    """The script as it was sent, with what its own runs showed, each made once when first asked.

    A reference is the run of its own mathematics: parameters held fixed and every graph kept, or
    what lies behind an earlier backward counted as constant; or, with every graph kept, one made of
    each gradient that the script takes, or the targets of its losses held constant. `spent` counts
    the session's runs; without it, they are counted from now on. `how` are further fields of every
    job.
    """

    def __init__(
        self,
        files: Mapping[str, str],
        entry: str,
        run: RunResult,
        session: Session,
        time_limit_s: float,
        spent: Spent | None = None,
        how: Mapping[str, object] | None = None,
    ) -> None:
        self.files = files
        self.run = run
        self._entry = entry
        self._spent = spent or Spent()
        self._session = session if spent is not None else Counting(session, self._spent)
        self._limit_s = time_limit_s
        self._how = {} if how is None else how
        self._references: dict[Reference, asyncio.Task[RunResult]] = {}

    @property
    def failing_call(self) -> int:
        """Backward calls that the original completed before it failed."""
        return outcome.len_backwards(self.run)

    @property
    def time_left_s(self) -> float:
        """What is left of the time for all runs."""
        return BUDGET * self._limit_s - self._spent.seconds

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
        """Whether the reference gets past the call that failed. Its steps call a closure once, so
        it may end with fewer."""
        held = await self.held(reference)
        failed = self.run.status == "raised"
        if failed and held.status == "finished":
            return outcome.len_backwards(held) > 0
        return outcome.len_backwards(held) >= max(self.failing_call + failed, 1)

    async def mathematics(self) -> Mathematics:
        """What a patch's gradients and schedule are held against."""
        kept, reaches = await self.held("kept"), await self.reaches("kept")
        if kept.trace is None or not _takes_constants(kept.trace):
            return Mathematics(kept, reaches)
        whole = await self.held("differentiated")
        if whole.trace is None or not await self.reaches("differentiated"):
            return Mathematics(kept, reaches)
        comparison = compare("kept", kept.trace, whole.trace)
        if comparison.whole or not comparison.differences:
            return Mathematics(kept, reaches)
        return Mathematics(whole, True, constant=kept.trace)

    async def aimed(self) -> Trace | None:
        """The reference in which losses do not move their targets; None where none could."""
        ended = trace.ended if (trace := (await self.held("kept")).trace) is not None else None
        if ended is None or not ended.moving_targets or not await self.reaches("aimed"):
            return None
        return (await self.held("aimed")).trace

    async def unmoved(self) -> list[int]:
        """Parameters that the reference leaves where they begin; a patch must, too."""
        trace = (await self.held("kept")).trace
        latest = {p.id: p for p in trace.parameters} if trace is not None else {}
        return sorted({p.unmoved for p in latest.values() if p.unmoved is not None})[:4096]

    def job(self, files: Mapping[str, str]) -> Job:
        """A traced run of these files, which ends once it has shown enough."""
        job = Job(
            files={**self.files, **files},
            entry=self._entry,
            gradients=True,
            stop_after_backwards=max(2 * self.failing_call + 8, 24),
            patience_s=PATIENCE_S,
            time_limit_s=self._limit_s,
        )
        return job.model_copy(update=dict(self._how))

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


def _takes_constants(trace: Trace) -> bool:
    """Whether the script takes gradients that have no graph of their own."""
    return any(r.visit.kind == "grad" and not r.visit.create_graph for r in trace.backwards)
