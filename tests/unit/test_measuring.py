"""Measuring a patch where runs of the original were ended too early to compare with."""

from __future__ import annotations

from collections.abc import Mapping
from typing import cast

import pytest

from app.repair.effects import Measured
from app.repair.measuring import measure, same_gradient
from app.repair.original import Original
from provenance import BackwardCall, CodeLine
from sandbox.protocol import Job, RunResult, Session
from sandbox.records import Backward, Trace
from tests.unit.test_effects import trace

CALL = BackwardCall(n=1, kind="backward", at=CodeLine("train.py", 9))


def run(status: str, values: list[float], calls: int, reach: int = 1) -> RunResult:
    """A run with these gradients, which completed so many backward calls: each of them through
    nodes from before `reach` others."""
    called = [Backward(t="backward", call=CALL, reach=reach)] * calls
    shown: Trace = trace(values).model_copy(update={"backwards": called})
    return RunResult.model_validate({"status": status, "trace": shown})


class References:
    """Answers with the run of the reference that a job asks for."""

    def __init__(self, runs: Mapping[str, RunResult]) -> None:
        self._runs = runs

    async def run(self, job: Job) -> RunResult:
        return self._runs[job.reference or ""]


async def measured(kept: RunResult, truncated: RunResult, patched: list[float]) -> Measured:
    session = cast(Session, References({"kept": kept, "truncated": truncated}))
    original = Original({"train.py": ""}, "train.py", run("raised", [], 1), session, 20.0)
    own = await original.mathematics()
    return await measure(original, own, trace(patched), original.job({}))


@pytest.mark.parametrize(
    ("truncated", "gradients", "status"),
    [
        (run("finished", [1, 1], 2), "truncated", "passed"),
        (run("finished", [3, 3], 2), "changed", "differs"),
        (run("raised", [1], 1), "changed", "differs"),
        (run("timed_out", [1], 1), "unknown", "not_run"),
        (RunResult(status="unavailable"), "unknown", "not_run"),
    ],
    ids=["equal", "unlike", "it fails, too", "without time", "without room"],
)
async def test_gradients_differ_from_what_was_compared_only(
    truncated: RunResult, gradients: str, status: str
) -> None:
    found = await measured(run("finished", [1, 2], 2), truncated, [1, 1])
    assert found.gradients == gradients
    assert same_gradient(found).status == status


async def test_a_run_that_keeps_every_graph_may_be_ended_first() -> None:
    found = await measured(run("timed_out", [1], 1), run("finished", [5], 2), [5])
    assert found.gradients == "unknown"
    assert "ended too early" in same_gradient(found).detail


async def test_nothing_is_held_constant_where_no_call_reaches_back() -> None:
    unasked = RunResult(status="unavailable")
    found = await measured(run("finished", [1, 2], 2, reach=0), unasked, [1, 1])
    assert found.gradients == "changed"  # and not unknown, as where a run was not possible
