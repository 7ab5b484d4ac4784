"""The worker process: a worker, its sandbox, and its reports."""

from __future__ import annotations

import asyncio
import os
import socket

import structlog
from prometheus_client import start_http_server

from app.allocator import give_back
from app.core import Core
from app.http.logs import configure
from app.jobs.sweep import every
from app.jobs.worker import Worker
from app.run.sandboxes import readiness_of
from app.settings import Settings
from app.store import WorkerReports
from sandbox.protocol import Readiness, Sandbox

REPORT_S = 5

log = structlog.get_logger()


class Reporter:
    """Reports the readiness of a worker's sandbox.

    A check of the walls can take longer, on a crowded machine, than a worker may be silent:
    meanwhile the result of the last one is reported.
    """

    def __init__(self, reports: WorkerReports, name: str, sandbox: Sandbox | None) -> None:
        self._reports = reports
        self._name = name
        self._sandbox = sandbox
        self._seen = Readiness(ready=False, backend="unknown", reason="the sandbox is starting")
        self._looking: asyncio.Task[Readiness] | None = None

    async def report(self) -> None:
        """Send one report: of a check now, or of the last one while this one runs."""
        looking = self._looking = self._looking or asyncio.create_task(readiness_of(self._sandbox))
        done, _ = await asyncio.wait({looking}, timeout=REPORT_S)
        if done:
            self._looking = None
            self._seen = looking.result()
        await self._reports.report(self._name, self._seen)

    async def withdraw(self) -> None:
        """Report that the worker ends."""
        if self._looking is not None:
            self._looking.cancel()
        await self._reports.withdraw(self._name)


async def run_worker(settings: Settings) -> None:
    """Work until cancelled; running diagnoses end, or are handed back."""
    give_back()
    configure(settings.log_level, settings.log_format)
    core = Core(settings)
    if not core.database.postgres:
        raise SystemExit("A worker needs PostgreSQL: set GRADMEND_DATABASE_URL=postgresql://…")
    name = f"{socket.gethostname()}:{os.getpid()}"
    await core.open(diagnosing=True)
    reporter = Reporter(core.reports, name, core.sandboxes.own)
    if settings.worker_metrics_port:
        start_http_server(settings.worker_metrics_port, registry=core.metrics.registry)
    reporting = asyncio.create_task(every(REPORT_S, reporter.report, at_once=True))
    log.info("worker takes diagnoses", worker=name, at_once=settings.workers)
    try:
        await Worker(core.database, core.store, core.runner, settings).run()
    finally:
        reporting.cancel()
        await asyncio.gather(reporting, return_exceptions=True)
        await reporter.withdraw()
        await core.close()
