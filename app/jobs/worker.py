"""A worker process: takes diagnoses from the queue, and looks after abandoned ones."""

from __future__ import annotations

import asyncio

import structlog
from sqlalchemy import text

from app.jobs.queue import QUEUE, TASK, defer, open_queue, prepare
from app.jobs.runner import Runner
from app.jobs.sweep import every
from app.settings import Settings
from app.store import Database, Store

log = structlog.get_logger()


class Worker:
    """Works until its task is cancelled; any number may work on one database."""

    def __init__(
        self, database: Database, store: Store, runner: Runner, settings: Settings
    ) -> None:
        self._database = database
        self._store = store
        self._settings = settings
        self._queue = open_queue(database.url)
        # A little longer than the lease, so that a swept job finds its diagnosis free.
        self._stalled_after_s = settings.lease_s * 1.3

        @self._queue.task(name=TASK, queue=QUEUE)
        async def diagnose(diagnosis_id: str) -> None:
            await runner.run(diagnosis_id)

    async def run(self) -> None:
        """Take jobs; cancelled, give the running ones time to end, then hand them back."""
        async with self._queue.open_async():
            await prepare(self._database, self._queue)
            # Loops of the process, not jobs: a job that sweeps can stall like any other.
            sweeps = [
                asyncio.create_task(every(self._settings.sweep_s, sweep))
                for sweep in (self.retry_stalled, self.queue_forgotten, self._store.purge)
            ]
            try:
                await self._queue.run_worker_async(
                    queues=[QUEUE],
                    concurrency=self._settings.workers,
                    fetch_job_polling_interval=self._settings.sweep_s,
                    shutdown_graceful_timeout=self._settings.shutdown_grace_s,
                    update_heartbeat_interval=self._settings.lease_s / 4,
                    stalled_worker_timeout=self._stalled_after_s * 2,
                    delete_jobs="always",
                    install_signal_handlers=False,
                )
            finally:
                for sweep in sweeps:
                    sweep.cancel()
                await asyncio.gather(*sweeps, return_exceptions=True)

    async def retry_stalled(self) -> None:
        """Queue the jobs of dead workers again."""
        jobs = await self._queue.job_manager.get_stalled_jobs(
            queue=QUEUE, seconds_since_heartbeat=self._stalled_after_s
        )
        for job in jobs:
            await self._queue.job_manager.retry_job(job)
            log.warning("job of a dead worker queued again", job=job.id)

    async def queue_forgotten(self) -> None:
        """Queue diagnoses that wait without a job: handed back, or lost with one."""
        async with self._database.engine.connect() as connection:
            live = set(
                await connection.scalars(
                    text(
                        "SELECT args->>'diagnosis_id' FROM procrastinate_jobs"
                        " WHERE status IN ('todo', 'doing')"
                    )
                )
            )
        for diagnosis_id in await self._store.unattended():
            if diagnosis_id not in live:
                await defer(self._queue, diagnosis_id)
