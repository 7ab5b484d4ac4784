"""What workers say of their sandboxes, to a web process that has none."""

from __future__ import annotations

import asyncio
from typing import cast

import pytest

from app.jobs import process
from app.jobs.process import Reporter
from app.run.sandboxes import readiness_of
from app.store import Database, WorkerReports
from sandbox.protocol import Readiness, Sandbox


class Slow:
    """A sandbox that says what it is asked to, as soon as it may."""

    def __init__(self) -> None:
        self.may = asyncio.Event()
        self.ready = True

    async def readiness(self) -> Readiness:
        await self.may.wait()
        return Readiness(ready=self.ready, backend="slow")


@pytest.fixture
def slow(monkeypatch: pytest.MonkeyPatch) -> Slow:
    monkeypatch.setattr(process, "REPORT_S", 0.05)
    return Slow()


def reporter_of(database: Database, slow: Slow) -> Reporter:
    return Reporter(WorkerReports(database), "worker", cast(Sandbox, slow))


async def reported(database: Database) -> list[tuple[str, bool]]:
    return [(each.backend, each.ready) for each in await WorkerReports(database).live()]


async def test_a_look_that_takes_long_silences_no_worker(database: Database, slow: Slow) -> None:
    reporter = reporter_of(database, slow)
    await reporter.report()
    assert await reported(database) == [("unknown", False)]
    slow.may.set()
    await reporter.report()
    assert await reported(database) == [("slow", True)]
    slow.may.clear()
    await reporter.report()
    assert await reported(database) == [("slow", True)]
    slow.ready = False
    slow.may.set()
    await reporter.report()
    assert await reported(database) == [("slow", False)]
    await reporter.withdraw()
    assert await reported(database) == []


async def test_a_sandbox_that_never_answers_is_not_ready(slow: Slow) -> None:
    seen = await readiness_of(cast(Sandbox, slow), within_s=0.05)
    assert not seen.ready
    assert seen.reason == "the sandbox does not answer within 0.05 s"
