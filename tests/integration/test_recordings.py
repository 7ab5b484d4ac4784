"""A sample of the recordings, another one in each tree, is what runs give now."""

from __future__ import annotations

from itertools import islice

import pytest

from sandbox.protocol import Job
from tests.recorded.box import RecordedSandbox
from tests.recorded.digests import in_turn, probe_digest, tracer_digest
from tests.recorded.packs import Address, Run, addresses, load
from tests.recorded.results import answer_of, differences
from tests.tracing import Tracing

SIZE = 30
KINDS = {"files": "sandbox", "traced": "traced", "plain": "plain", "watched": "plain"}


def sample() -> list[Address]:
    in_order = sorted(addresses(), key=lambda address: in_turn(str(address)))
    return list(islice(filter(current, in_order), SIZE))


def current(address: Address) -> dict[str, Run]:
    """The runs of the present tracer and probe; those of another are counted, not compared."""
    present = (tracer_digest(), probe_digest())
    return {key: run for key, run in load(address).items() if run.made_by in present}


async def again(run: Run, traced: Tracing, sandbox: RecordedSandbox) -> dict[str, object]:
    """The answer to a recorded request now, from the real sandbox."""
    if "traced" in run.request:
        return traced.answer_to(run.request)
    if "files" in run.request:
        return answer_of(await sandbox.real.run(Job.model_validate(run.request)))
    from tests.plain_runs import answer_to

    return answer_to(run.request)


@pytest.mark.sample
@pytest.mark.asyncio(loop_scope="session")
@pytest.mark.parametrize("address", sample(), ids=str)
async def test_a_recording_is_what_a_run_gives_now(
    address: Address, traced: Tracing, sandbox: RecordedSandbox
) -> None:
    runs = sorted(current(address).items(), key=lambda pair: in_turn(pair[0]))
    for kind in sorted({kind_of(run) for _, run in runs}):
        run = next(run for _, run in runs if kind_of(run) == kind)
        found = differences(run.answer, await again(run, traced, sandbox))
        assert found == [], "make record"


def test_there_are_recordings_to_compare() -> None:
    assert len(sample()) == SIZE, "most recordings are of another tracer: make record"


def kind_of(run: Run) -> str:
    """Which of our ways to run a script made it."""
    return next(kind for field, kind in KINDS.items() if field in run.request)
