"""Jobs, on both databases and both ways of running them: each diagnosis gets one result."""

from __future__ import annotations

import asyncio
import json
from collections.abc import AsyncIterator, Awaitable, Callable
from pathlib import Path

import httpx
import pytest
from sqlalchemy import text

from app.http.metrics import Metrics
from app.jobs import Diagnose, Jobs, QueueFullError, Runner
from app.jobs.embedded import EmbeddedJobs
from app.jobs.queue import QueueJobs
from app.jobs.worker import Worker
from app.main import create_app
from app.schemas import Cause, DiagnosisRequest, Findings, Location
from app.settings import Settings
from app.store import Attempts, Database, Store

REQUEST = DiagnosisRequest(script="pass")
CAUSE = Cause(
    pattern="recurrent-state",
    title="t",
    confidence=1,
    source="trace",
    location=Location(file="train.py", line=1),
    explanation="e",
    learn_more="/patterns/recurrent-state",
)


class Bench:
    """A store with jobs on it, and what they need to be watched."""

    def __init__(self, database: Database, way: str) -> None:
        self.way = way
        self.settings = Settings(
            concurrency=2,
            queue_limit=4,
            lease_s=4,  # no machine is so busy that an attempt at work lets it lapse
            sweep_s=0.2,
            shutdown_grace_s=0.2,
            max_attempts=2,
        )
        self.database = database
        self.store = Store(database, retention_days=1)
        self.attempts = Attempts(database, self.settings.lease_s)
        self.metrics = Metrics()
        self._ending: list[Callable[[], Awaitable[None]]] = []

    async def begin(self, diagnose: Diagnose) -> Jobs:
        """Jobs at work, as one process would run them."""
        runner = Runner(
            self.attempts,
            diagnose,
            self.metrics,
            lease_s=self.settings.lease_s,
            max_attempts=self.settings.max_attempts,
        )
        jobs: Jobs
        if self.way == "embedded":
            jobs = EmbeddedJobs(self.store, runner, self.settings)
            await jobs.start()
        else:
            jobs = QueueJobs(self.database, self.store, self.settings)
            await jobs.start()
            worker = Worker(self.database, self.store, runner, self.settings)
            task = asyncio.create_task(worker.run())

            async def stop_worker() -> None:
                task.cancel()
                await asyncio.gather(task, return_exceptions=True)

            self._ending.append(stop_worker)
        self._ending.append(jobs.stop)
        return jobs

    async def end(self) -> None:
        """End everything begun, gracefully."""
        for stop in self._ending:
            await stop()
        self._ending.clear()

    async def finished(self, *ids: str) -> None:
        """Wait for results."""
        async with asyncio.timeout(30):
            for diagnosis_id in ids:
                while await self.store.finished(diagnosis_id) is False:
                    await asyncio.sleep(0.02)

    async def status(self, diagnosis_id: str) -> str | None:
        diagnosis = await self.store.get(diagnosis_id)
        return diagnosis.status if diagnosis else None


@pytest.fixture(params=["embedded-sqlite", "embedded-postgres", "queue-postgres"])
async def bench(
    request: pytest.FixtureRequest, new_database: Callable[[str], str]
) -> AsyncIterator[Bench]:
    way, _, kind = request.param.partition("-")
    database = Database(Settings(database_url=new_database(kind)).store_url)
    await database.open()
    bench = Bench(database, way)
    yield bench
    await bench.end()
    await database.close()


async def healthy(request: DiagnosisRequest, progress: object) -> Findings:
    return Findings(verdict="healthy", summary=request.script)


async def for_ever(request: DiagnosisRequest, progress: object) -> Findings:
    await asyncio.sleep(3600)
    raise AssertionError("unreachable")


async def test_every_submission_gets_one_result(bench: Bench) -> None:
    jobs = await bench.begin(healthy)
    ids = [await jobs.submit(REQUEST, None) for _ in range(4)]
    await bench.finished(*ids)
    for diagnosis_id in ids:
        events = await bench.store.events(diagnosis_id)
        assert [event.kind for event in events] == ["status", "status", "done"]
    assert await jobs.waiting() == 0


async def test_full_queue_refuses_and_loses_nothing(bench: Bench) -> None:
    gate = asyncio.Event()

    async def gated(request: DiagnosisRequest, progress: object) -> Findings:
        await gate.wait()
        return Findings(verdict="healthy")

    jobs = await bench.begin(gated)
    answers = await asyncio.gather(
        *(jobs.submit(REQUEST, None) for _ in range(12)), return_exceptions=True
    )
    accepted = [answer for answer in answers if isinstance(answer, str)]
    refused = [answer for answer in answers if isinstance(answer, QueueFullError)]
    assert len(accepted) + len(refused) == 12
    assert len(accepted) >= 4
    assert refused
    gate.set()
    await bench.finished(*accepted)


async def test_the_queue_takes_as_many_as_its_limit_next_to_those_at_work(bench: Bench) -> None:
    jobs = await bench.begin(for_ever)
    at_work = [await jobs.submit(REQUEST, None) for _ in range(bench.settings.concurrency)]
    async with asyncio.timeout(20):
        while {await bench.status(one) for one in at_work} != {"running"}:
            await asyncio.sleep(0.02)
    for _ in range(bench.settings.queue_limit):
        await jobs.submit(REQUEST, None)
    with pytest.raises(QueueFullError):
        await jobs.submit(REQUEST, None)


async def test_what_is_found_is_reported_before_the_end(bench: Bench) -> None:
    gate = asyncio.Event()

    async def reporting(request: DiagnosisRequest, progress: object) -> Findings:
        await progress.stage("reading", 0, 1, "Reading")  # type: ignore[attr-defined]
        await progress.cause(CAUSE)  # type: ignore[attr-defined]
        await gate.wait()
        return Findings(verdict="confirmed", causes=[CAUSE])

    jobs = await bench.begin(reporting)
    diagnosis_id = await jobs.submit(REQUEST, None)
    async with asyncio.timeout(20):
        while len(await bench.store.events(diagnosis_id)) < 4:
            await asyncio.sleep(0.02)
    running = await bench.store.get(diagnosis_id)
    assert running is not None
    assert (running.status, running.causes) == ("running", [CAUSE])
    gate.set()
    await bench.finished(diagnosis_id)


async def test_what_is_reported_keeps_its_order(bench: Bench) -> None:
    async def reporting(request: DiagnosisRequest, progress: object) -> Findings:
        for n in range(6):
            await progress.stage("verifying", n, 6, "Trying")  # type: ignore[attr-defined]
            await asyncio.sleep(0.03 * (n % 3))  # some of it is written together
        return Findings(verdict="healthy")

    jobs = await bench.begin(reporting)
    diagnosis_id = await jobs.submit(REQUEST, None)
    await bench.finished(diagnosis_id)
    events = await bench.store.events(diagnosis_id)
    assert [event.kind for event in events] == ["status"] * 2 + ["progress"] * 6 + ["done"]
    assert [json.loads(event.data)["done"] for event in events[2:-1]] == list(range(6))


async def test_failure_of_the_service_is_a_failed_diagnosis(bench: Bench) -> None:
    async def broken(request: DiagnosisRequest, progress: object) -> Findings:
        raise ZeroDivisionError

    jobs = await bench.begin(broken)
    diagnosis_id = await jobs.submit(REQUEST, None)
    await bench.finished(diagnosis_id)
    diagnosis = await bench.store.get(diagnosis_id)
    assert diagnosis is not None
    assert (diagnosis.status, diagnosis.verdict) == ("failed", "inconclusive")


async def test_stopping_hands_running_diagnoses_back(bench: Bench) -> None:
    jobs = await bench.begin(for_ever)
    ids = [await jobs.submit(REQUEST, None) for _ in range(2)]
    async with asyncio.timeout(20):
        while {await bench.status(diagnosis_id) for diagnosis_id in ids} != {"running"}:
            await asyncio.sleep(0.02)
    await bench.end()
    assert [await bench.status(diagnosis_id) for diagnosis_id in ids] == ["queued"] * 2
    await bench.begin(healthy)
    await bench.finished(*ids)


async def test_abandoned_diagnosis_is_taken_up_by_another_attempt(bench: Bench) -> None:
    diagnosis_id = await bench.store.create(REQUEST)
    assert await Attempts(bench.database, lease_s=0.5).claim(diagnosis_id) is not None
    await bench.begin(healthy)  # the first attempt's process is gone: nobody renews its lease
    await bench.finished(diagnosis_id)
    events = await bench.store.events(diagnosis_id)
    assert '"attempt":2' in events[2].data
    assert [event.kind for event in events].count("done") == 1


async def test_diagnosis_that_kills_its_workers_is_given_up(bench: Bench) -> None:
    diagnosis_id = await bench.store.create(REQUEST)
    for _ in range(bench.settings.max_attempts):
        assert await Attempts(bench.database, lease_s=-1).claim(diagnosis_id) is not None
    await bench.begin(healthy)
    await bench.finished(diagnosis_id)
    assert await bench.status(diagnosis_id) == "failed"


async def test_deleting_ends_the_run(bench: Bench) -> None:
    ended = asyncio.Event()

    async def watched(request: DiagnosisRequest, progress: object) -> Findings:
        try:
            return await for_ever(request, progress)
        finally:
            ended.set()

    jobs = await bench.begin(watched)
    diagnosis_id = await jobs.submit(REQUEST, None)
    async with asyncio.timeout(20):
        while await bench.status(diagnosis_id) != "running":
            await asyncio.sleep(0.02)
        assert await bench.store.delete(diagnosis_id)
        await jobs.cancel(diagnosis_id)
        await ended.wait()


async def test_finished_jobs_leave_the_queue(bench: Bench) -> None:
    jobs = await bench.begin(healthy)
    ids = [await jobs.submit(REQUEST, None) for _ in range(3)]
    await bench.finished(*ids)
    async with asyncio.timeout(10):
        while await _left(bench, jobs):
            await asyncio.sleep(0.05)


async def _left(bench: Bench, jobs: Jobs) -> int:
    if bench.way == "embedded":
        return await jobs.waiting()
    async with bench.database.engine.connect() as connection:
        found = await connection.scalar(text("SELECT count(*) FROM procrastinate_jobs"))
    return int(found or 0)


async def test_the_same_request_again_is_answered_from_what_was_found(tmp_path: Path) -> None:
    """By a result of its own, with a fresh id; another request is worked on."""
    settings = {"var_dir": tmp_path, "sandbox": "none", "shutdown_grace_s": 0}
    app = create_app(Settings.model_validate(settings))
    body = {"script": "import torch\nx = torch.ones(2, requires_grad=True)\n", "run": "never"}
    async with app.router.lifespan_context(app):
        transport = httpx.ASGITransport(app)
        async with httpx.AsyncClient(transport=transport, base_url="http://test") as http:
            answers = [
                (await http.post("/v1/diagnoses?wait=60", json=sent)).json()
                for sent in (body, body, {**body, "filename": "other.py"})
            ]
    first, again, other = answers
    assert again["id"] != first["id"]
    assert again["summary"] == first["summary"]
    assert first["timings_ms"]["read"] > 0
    assert again["timings_ms"]["read"] == 0
    assert other["timings_ms"]["read"] > 0
