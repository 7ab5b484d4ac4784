"""The worker process: a worker, its sandbox, and its reports."""

from __future__ import annotations

import asyncio
import os
import socket

import structlog
from prometheus_client import start_http_server

from app.allocator import give_back
from app.http.logs import configure
from app.jobs.sweep import every
from app.jobs.worker import Worker
from app.run.sandboxes import readiness_of
from app.service import Core
from app.settings import Settings

REPORT_S = 5

log = structlog.get_logger()


async def run_worker(settings: Settings) -> None:
    """Work until cancelled; running diagnoses end, or are handed back."""
    give_back()
    configure(settings.log_level, settings.log_format)
    core = Core(settings)
    if not core.database.postgres:
        raise SystemExit("A worker needs PostgreSQL: set GRADMEND_DATABASE_URL=postgresql://…")
    name = f"{socket.gethostname()}:{os.getpid()}"

    async def report() -> None:
        await core.reports.report(name, await readiness_of(core.sandbox))

    await core.open(diagnosing=True)
    if settings.worker_metrics_port:
        start_http_server(settings.worker_metrics_port, registry=core.metrics.registry)
    reporting = asyncio.create_task(every(REPORT_S, report, at_once=True))
    log.info("worker takes diagnoses", worker=name, at_once=settings.workers)
    try:
        await Worker(core.database, core.store, core.runner, settings).run()
    finally:
        reporting.cancel()
        await asyncio.gather(reporting, return_exceptions=True)
        await core.reports.withdraw(name)
        await core.close()
