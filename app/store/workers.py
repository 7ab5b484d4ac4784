"""What worker processes say about their sandboxes, for a web process that has none."""

from __future__ import annotations

from datetime import timedelta

from sqlalchemy import delete, insert, select

from app.store.database import Database
from app.store.tables import WorkerRow
from sandbox.protocol import Readiness

FRESH = timedelta(seconds=30)


class WorkerReports:
    """The latest report of each live worker, timed by the clock that all of them share: machines
    whose own clocks differ, or jump, do not fall silent."""

    def __init__(self, database: Database) -> None:
        self._database = database
        self._engine = database.engine

    async def report(self, name: str, readiness: Readiness) -> None:
        """Replace this worker's report, and forget workers that fell silent."""
        async with self._engine.begin() as connection:
            silent = WorkerRow.seen_at < self._database.clock(-FRESH)
            await connection.execute(delete(WorkerRow).where((WorkerRow.name == name) | silent))
            await connection.execute(
                insert(WorkerRow).values(
                    name=name,
                    seen_at=self._database.clock(),
                    readiness=readiness.model_dump_json(),
                )
            )

    async def withdraw(self, name: str) -> None:
        """Record that this worker ends."""
        async with self._engine.begin() as connection:
            await connection.execute(delete(WorkerRow).where(WorkerRow.name == name))

    async def live(self) -> list[Readiness]:
        """Return the recent reports of workers."""
        async with self._engine.connect() as connection:
            heard = WorkerRow.seen_at > self._database.clock(-FRESH)
            rows = await connection.scalars(select(WorkerRow.readiness).where(heard))
            return [Readiness.model_validate_json(row) for row in rows]
