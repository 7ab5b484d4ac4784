"""Jobs for other processes: Procrastinate on the service's own PostgreSQL."""

from __future__ import annotations

import contextlib
from typing import Any

from procrastinate import App, PsycopgConnector
from procrastinate.exceptions import AlreadyEnqueued
from pydantic import BaseModel
from sqlalchemy import text
from sqlalchemy.ext.asyncio import AsyncConnection

from app.jobs.worker_protocol import QueueFullError
from app.settings import Settings
from app.store import Database, Key, Store
from app.store.database import MIGRATION_LOCK
from app.store.listen import plain_url

QUEUE = "diagnoses"
TASK = "diagnose"


def open_queue(url: str) -> App:
    """Return a Procrastinate application on the database of an SQLAlchemy URL, not yet
    connected."""
    return App(connector=PsycopgConnector(conninfo=plain_url(url)))


async def prepare(database: Database, queue: App) -> None:
    """Install Procrastinate's tables once; processes that start together take turns."""
    async with database.engine.begin() as connection:
        lock = text("SELECT pg_advisory_xact_lock(:number)")
        await connection.execute(lock, {"number": MIGRATION_LOCK + 1})
        there = await connection.scalar(text("SELECT to_regclass('procrastinate_jobs')"))
        if there is None:
            await queue.schema_manager.apply_schema_async()


async def defer(queue: App, diagnosis_id: str, connection: Any = None) -> None:
    """Put a diagnosis into the queue, unless it waits there already.

    With a psycopg connection, within the transaction that is open on it.
    """
    task = queue.configure_task(
        TASK, queue=QUEUE, queueing_lock=diagnosis_id, connection=connection
    )
    with contextlib.suppress(AlreadyEnqueued):
        await task.defer_async(diagnosis_id=diagnosis_id)


class QueueJobs:
    """Leaves diagnoses to `gradmend worker` processes."""

    def __init__(self, database: Database, store: Store, settings: Settings) -> None:
        self._database = database
        self._store = store
        self._settings = settings
        self._queue = open_queue(database.url)
        self._admitting = 0

    async def start(self) -> None:
        await self._queue.open_async()
        await prepare(self._database, self._queue)

    async def submit(self, request: BaseModel, key: Key | None, sender: str | None = None) -> str:
        if await self.waiting() + self._admitting >= self._settings.queue_limit:
            raise QueueFullError
        self._admitting += 1
        try:
            return await self._store.create(request, key, self._enqueue, sender)
        finally:
            self._admitting -= 1

    async def _enqueue(self, connection: AsyncConnection, diagnosis_id: str) -> None:
        raw = await connection.get_raw_connection()
        await defer(self._queue, diagnosis_id, raw.driver_connection)

    async def cancel(self, diagnosis_id: str) -> None:
        """Do nothing: the worker notices within a quarter of the lease."""

    async def waiting(self) -> int:
        return await self._store.waiting()

    async def stop(self) -> None:
        await self._queue.close_async()
