"""How much of a diagnosis's time its runs have taken."""

from __future__ import annotations

import asyncio

import pytest

from app.repair.original import BUDGET, Original
from app.run.time_budget import TimeBudget
from sandbox.protocol import Job, RunResult

FILES = {"train.py": "pass"}


class _Slow:
    """A session whose runs wait for their turn before they run."""

    def __init__(self, waits_s: float, ran_s: float, waited_s: float = 0.0) -> None:
        self._waits_s = waits_s
        self._result = RunResult(status="finished", duration_s=ran_s, waited_s=waited_s)

    async def run(self, job: Job) -> RunResult:
        await asyncio.sleep(self._waits_s)
        return self._result


async def _spent_by(*runs: _Slow) -> TimeBudget:
    spent = TimeBudget()
    sessions = [spent.counting(run) for run in runs]
    jobs = (session.run(Job(files=FILES)) for session in sessions if session is not None)
    await asyncio.gather(*jobs)
    return spent


@pytest.mark.asyncio
async def test_waiting_for_a_turn_does_not_count() -> None:
    assert (await _spent_by(_Slow(0.2, 0.0))).seconds == 0


@pytest.mark.asyncio
async def test_waiting_for_a_processor_does_not_count() -> None:
    spent = await _spent_by(_Slow(0.0, 10.0, waited_s=9.0))
    assert spent.seconds == pytest.approx(1)


@pytest.mark.asyncio
async def test_runs_side_by_side_count_once() -> None:
    spent = await _spent_by(_Slow(0.0, 3.0), _Slow(0.0, 2.0))
    assert spent.seconds == pytest.approx(3, abs=0.5)


@pytest.mark.asyncio
async def test_patches_get_the_time_that_the_runs_before_them_left() -> None:
    spent = await _spent_by(_Slow(0.1, 5.0))
    run = RunResult(status="raised")
    original = Original(FILES, "train.py", run, _Slow(0, 0), 20.0, spent)
    assert original.time_left_s == pytest.approx(BUDGET * 20 - 5)


@pytest.mark.asyncio
async def test_without_time_nothing_is_run() -> None:
    spent = await _spent_by(_Slow(0.0, 2.0))
    original = Original(FILES, "train.py", RunResult(status="raised"), _Slow(0, 0), 1.0, spent)
    result = await original.attempt(Job(files=FILES))
    assert result.status == "unavailable"
