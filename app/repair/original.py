"""Run the script as it was sent, to which every patch is compared."""

from __future__ import annotations

import asyncio
from collections.abc import Mapping
from dataclasses import dataclass

from app.repair.effects import compare
from app.run import outcome
from app.run.time_budget import Counting, TimeBudget
from sandbox.protocol import Job, Reference, RunResult, Session
from sandbox.records import Trace

PATIENCE_S = 0.2  # how long a run goes on past the point of failure
BUDGET = 2.0  # of the time limit, for all runs of the script and of its patches


@dataclass(frozen=True)
class Mathematics:
    """The run that shows the original's own gradients. `reaches`: it gets past the failure.

    `reference` names the run. `constant`: another run in which results of `autograd.grad` are
    constants, if the script asks for no graph of them and the loss's own gradient differs.
    """

    run: RunResult
    reaches: bool
    constant: Trace | None = None
    reference: Reference = "kept"


class Original:
    """The script as it was sent, with the results of its own runs, each made once on first use.

    A reference is a run of the original's mathematics: parameters held fixed and every graph kept
    (`kept`), or what lies before an earlier backward call counted as constant (`truncated`); or,
    with every graph kept, each gradient that the script takes given a graph (`differentiated`), or
    the targets of its losses held constant (`constant_targets`). `budget` counts the session's
    runs; without it, counting starts now. `how` are further fields of every job.
    """

    def __init__(
        self,
        files: Mapping[str, str],
        entry: str,
        run: RunResult,
        session: Session,
        time_limit_s: float,
        budget: TimeBudget | None = None,
        how: Mapping[str, object] | None = None,
    ) -> None:
        self.files = files
        self.run = run
        self._entry = entry
        self._budget = budget or TimeBudget()
        self._session = session if budget is not None else Counting(session, self._budget)
        self._limit_s = time_limit_s
        self._how = {} if how is None else how
        self._references: dict[Reference, asyncio.Task[RunResult]] = {}

    @property
    def failing_call(self) -> int:
        """Return the number of backward calls that the original completed before it failed."""
        return outcome.len_backwards(self.run)

    @property
    def time_left_s(self) -> float:
        """Return the time left for all runs, in seconds."""
        return BUDGET * self._limit_s - self._budget.seconds

    def expect(self, reference: Reference) -> None:
        """Start the run of a reference that will be needed, unless it was started before."""
        if reference not in self._references:
            task = asyncio.create_task(self.attempt(self.reference_job(reference)))
            self._references[reference] = task

    async def held(self, reference: Reference) -> RunResult:
        """Return the run of a reference, and start it if necessary."""
        self.expect(reference)
        return await asyncio.shield(self._references[reference])

    async def reaches(self, reference: Reference) -> bool:
        """Return True if the reference gets past the call that failed. Its steps call a closure
        once, so it may end with fewer calls.
        """
        held = await self.held(reference)
        failed = self.run.status == "raised"
        if failed and held.status == "finished":
            return outcome.len_backwards(held) > 0
        return outcome.len_backwards(held) >= max(self.failing_call + failed, 1)

    async def was_cut_short(self, reference: Reference) -> bool:
        """Return True if a reference was begun, and ended for want of time or room before it got
        past the call that failed.
        """
        begun = reference in self._references
        short = begun and outcome.is_inconclusive(await self.held(reference))
        return short and not await self.reaches(reference)

    async def mathematics(self) -> Mathematics:
        """Return the run with which a patch's gradients and schedule are compared."""
        kept, reaches = await self.held("kept"), await self.reaches("kept")
        if kept.trace is None or not _takes_constants(kept.trace):
            return Mathematics(kept, reaches)
        whole = await self.held("differentiated")
        if whole.trace is None or not await self.reaches("differentiated"):
            return Mathematics(kept, reaches)
        comparison = compare("kept", kept.trace, whole.trace)
        if comparison.whole or not comparison.differences:
            return Mathematics(kept, reaches)
        return Mathematics(whole, True, constant=kept.trace, reference="differentiated")

    async def with_constant_targets(self) -> Trace | None:
        """Return the reference in which losses do not train their targets; None if no target is
        trained.
        """
        ended = trace.ended if (trace := (await self.held("kept")).trace) is not None else None
        if (
            ended is None
            or not ended.targets_with_graph
            or not await self.reaches("constant_targets")
        ):
            return None
        return (await self.held("constant_targets")).trace

    async def with_constant_history(self) -> Trace | None:
        """Return the reference in which what lies before an earlier backward call is constant; None
        if no call went through anything that lies there.
        """
        kept = (await self.held("kept")).trace
        if kept is not None and not _reaches_back(kept):
            return None
        truncated = (await self.held("truncated")).trace
        return truncated if await self.reaches("truncated") else None

    async def unmoved(self) -> list[int]:
        """Return the parameters that the reference leaves at their initial values; a patch must,
        too.
        """
        trace = (await self.held("kept")).trace
        latest = {p.id: p for p in trace.parameters} if trace is not None else {}
        return sorted({p.unmoved for p in latest.values() if p.unmoved is not None})[:4096]

    def job(self, files: Mapping[str, str]) -> Job:
        """Return a job that runs these files, traced, and ends once it has shown enough."""
        job = Job(
            files={**self.files, **files},
            entry=self._entry,
            gradients=True,
            stop_after_backwards=max(2 * self.failing_call + 8, 24),
            patience_s=PATIENCE_S,
            time_limit_s=self._limit_s,
        )
        return job.model_copy(update=dict(self._how))

    def reference_job(self, reference: Reference) -> Job:
        """Return the job of a reference."""
        wanted = {"reference": reference, "patience_s": 0.0}
        return self.job(self.files).model_copy(update=wanted)

    async def attempt(self, job: Job) -> RunResult:
        """Run a job within the time that is left. Try once more if it was killed or had no
        capacity.
        """
        result = await self._run(job)
        if outcome.is_inconclusive(result) and result.status not in ("timed_out", "stopped"):
            result = await self._run(job)
        return result

    async def _run(self, job: Job) -> RunResult:
        left = self.time_left_s
        if left < 0.5:
            return RunResult(status="unavailable", reason="the time for trying patches was used up")
        limit = min(job.time_limit_s, left)
        return await self._session.run(job.model_copy(update={"time_limit_s": limit}))

    def close(self) -> None:
        """Cancel the references that nobody waits for any more."""
        for task in self._references.values():
            task.cancel()


def _reaches_back(trace: Trace) -> bool:
    """Return True if a backward call went through nodes from before another one, or may have."""
    return any(r.reach for r in trace.backwards) or not outcome.all_recorded(trace)


def _takes_constants(trace: Trace) -> bool:
    """Return True if the script takes gradients that have no graph of their own."""
    return any(r.call.kind == "grad" and not r.call.create_graph for r in trace.backwards)
