"""What a web process and a worker have in common: the store, the sandbox, the work itself."""

from __future__ import annotations

import asyncio

import structlog

from app.assistant import assistant_of
from app.change import better_of, verify_change
from app.change_schemas import ChangeFindings, ChangeRequest
from app.diagnose import Progress, diagnose, prepare_reader
from app.http.metrics import Metrics
from app.jobs import Diagnose, Runner
from app.jobs.known import digest_of, version
from app.request.change_versions import as_diagnosis
from app.request.reader import Reader, ReaderUnavailable
from app.run.sandboxes import Sandboxes, lacking, open_sandboxes, readiness_of
from app.schemas import DiagnosisRequest, Findings
from app.settings import Settings
from app.store import Attempts, Complaints, Database, Store, WorkerReports
from sandbox.lag import LagWatch

log = structlog.get_logger()


class Core:
    """Opens what is needed to work on requests, and works on them."""

    def __init__(self, settings: Settings, diagnose_with: Diagnose | None = None) -> None:
        self.settings = settings
        self.metrics = Metrics()
        self.database = Database(settings.store_url)
        self.store = Store(self.database, settings.retention_days, settings.lease_s)
        self.reports = WorkerReports(self.database)
        self.assistant = assistant_of(settings)
        self.complaints = Complaints(self.database)
        self.sandboxes = Sandboxes(None)
        self.reader: Reader | None = None
        self._tasks: list[asyncio.Task[None]] = []
        self.runner = Runner(
            Attempts(self.database, settings.lease_s),
            diagnose_with or self._diagnose,
            self.metrics,
            lease_s=settings.lease_s,
            max_attempts=settings.max_attempts,
            identify=self._identify if settings.reuse_results and not diagnose_with else None,
            verify=self._verify,
        )

    def _identify(self, asked: str) -> str:
        settings = self.settings
        sandbox = settings.sandbox_socket or settings.sandbox
        if settings.torch_sandboxes:
            sandbox += f" {settings.torch_sandboxes}"
        asked_too = f"{self.assistant.host} {self.assistant.model}" if self.assistant else ""
        return digest_of(asked, f"{sandbox}\n{asked_too}" if asked_too else sandbox)

    async def open(self, *, diagnosing: bool) -> None:
        """Open the database and, where diagnoses run in this process, what they need."""
        self._tasks.append(asyncio.create_task(LagWatch(self.metrics.lagged).run()))
        await self.database.open()
        if diagnosing:
            await asyncio.to_thread(version)  # reads every file of ours: never in the loop
            self.sandboxes = open_sandboxes(self.settings)
            self.reader = Reader(prepare=prepare_reader)
            self._tasks.append(asyncio.create_task(self._warm_up()))

    async def _warm_up(self) -> None:
        """Start the workers and the sandbox before the first request needs them."""
        assert self.reader is not None
        try:
            await self.reader.warm_up()
        except ReaderUnavailable as error:
            log.error("reader", problem=str(error))
        readiness = await readiness_of(self.sandboxes.own)
        log.info("sandbox", **readiness.model_dump())
        for name, place in self.settings.torches.items():
            if problem := await asyncio.to_thread(lacking, place):
                log.error("sandbox", torch=name, problem=problem)

    async def close(self) -> None:
        """Close everything; runs end."""
        for task in self._tasks:
            task.cancel()
        await asyncio.gather(*self._tasks, return_exceptions=True)
        await self.sandboxes.close()
        if self.reader is not None:
            await self.reader.close()
        await self.database.close()

    async def _diagnose(self, request: DiagnosisRequest, progress: Progress) -> Findings:
        assert self.reader is not None
        return await diagnose(
            request,
            sandbox=self.sandboxes.of(request.torch),
            reader=self.reader,
            progress=progress,
            assistant=self.assistant,
        )

    async def _verify(self, request: ChangeRequest, progress: Progress) -> ChangeFindings:
        assert self.reader is not None
        sandbox = self.sandboxes.of(request.torch)
        found = await verify_change(request, sandbox=sandbox, reader=self.reader, progress=progress)
        found.better = better_of(found, await self._diagnosed(request))
        return found

    async def _diagnosed(self, request: ChangeRequest) -> Findings | None:
        """Return what is known already of the script before the change, or None."""
        if request.diagnosis is not None:
            return await self.store.get(request.diagnosis)
        known = await self.runner.known(as_diagnosis(request.before, request))
        return known if isinstance(known, Findings) else None
