"""The database: opened, migrated, and written to in transactions that wake those who wait."""

from __future__ import annotations

import asyncio
import contextlib
import sqlite3
from collections.abc import AsyncIterator
from datetime import UTC, datetime, timedelta
from pathlib import Path
from typing import Any

from sqlalchemy import Connection, event, func, inspect, make_url, text
from sqlalchemy.ext.asyncio import AsyncConnection, AsyncEngine, create_async_engine

from app.store.listen import CHANNEL, listen
from app.store.wakeups import Wakeups

MIGRATIONS = Path(__file__).parent.parent / "migrations"
SQLITE = ("journal_mode=WAL", "synchronous=NORMAL", "foreign_keys=ON", "secure_delete=ON")
LOCKED_S = 15  # how long a writer waits for another one
MIGRATION_LOCK = 0x67726164  # an advisory lock's number: processes that start together take turns


class Database:
    """One database, SQLite or PostgreSQL, and the wake-ups that its changes cause."""

    def __init__(self, url: str) -> None:
        self.url = url
        self.engine = open_engine(url)
        self.wakeups = Wakeups()
        self._listening: asyncio.Task[None] | None = None

    @property
    def postgres(self) -> bool:
        """Return True if the database can notify, lock and queue."""
        return self.engine.dialect.name == "postgresql"

    async def open(self) -> None:
        """Migrate, and start to listen for changes of other processes."""
        await migrate(self.engine)
        if self.postgres:
            self._listening = asyncio.create_task(listen(self.url, self.wakeups))

    async def close(self) -> None:
        """Stop listening and drop the connections."""
        if self._listening is not None:
            self._listening.cancel()
            with contextlib.suppress(asyncio.CancelledError):
                await self._listening
        await self.engine.dispose()

    @contextlib.asynccontextmanager
    async def changing(self, diagnosis_id: str) -> AsyncIterator[AsyncConnection]:
        """Yield a transaction on one diagnosis; once it is committed, its watchers wake up."""
        async with self.engine.begin() as connection:
            yield connection
            if self.postgres:
                await connection.execute(
                    text("SELECT pg_notify(:channel, :payload)"),
                    {"channel": CHANNEL, "payload": diagnosis_id},
                )
        self.wakeups.wake(diagnosis_id)

    def clock(self, ahead: timedelta = timedelta()) -> Any:
        """Return the time, or a later one, by the clock that all who share the database share.

        It is the machine's with SQLite, else the database's own.
        """
        return func.now() + ahead if self.postgres else datetime.now(UTC) + ahead

    async def forget(self) -> None:
        """Take what was deleted out of SQLite's log, too, unless somebody reads there now."""
        if not self.postgres:
            async with self.engine.connect() as connection:
                await connection.execute(text("PRAGMA wal_checkpoint(TRUNCATE)"))

    async def prove_writable(self) -> None:
        """Write, without changing anything; raises what the database raises."""
        async with self.engine.begin() as connection:
            await connection.execute(text("UPDATE alembic_version SET version_num = version_num"))


def open_engine(url: str) -> AsyncEngine:
    """Return an engine for SQLite (in WAL mode, its directory created) or PostgreSQL."""
    if not url.startswith("sqlite"):
        return create_async_engine(url, pool_pre_ping=True, pool_size=10, max_overflow=20)
    path = make_url(url).database
    if path and path != ":memory:":
        _make_private(Path(path).parent)
    # Each connection is a thread: kept, not opened and closed again with every rush.
    engine = create_async_engine(
        url, connect_args={"timeout": LOCKED_S}, pool_size=15, max_overflow=0
    )
    event.listen(engine.sync_engine, "connect", _prepare_sqlite)
    event.listen(engine.sync_engine, "invalidate", _end_transaction)
    return engine


def _make_private(directory: Path) -> None:
    """Make the directory where there is none; it holds people's scripts."""
    with contextlib.suppress(FileExistsError):
        directory.mkdir(mode=0o700, parents=True)


def _prepare_sqlite(connection: Any, _: Any) -> None:
    cursor = connection.cursor()
    for pragma in SQLITE:
        cursor.execute(f"PRAGMA {pragma}")
    cursor.close()


def _end_transaction(connection: Any, _: Any, reason: BaseException | None) -> None:
    """Roll back what a cancelled task had begun.

    SQLite closes a connection only once its cursors are gone, and a traceback may hold one for
    long: until then nobody else could write.
    """
    if reason is not None:
        with contextlib.suppress(sqlite3.Error, asyncio.CancelledError):
            connection.rollback()


async def migrate(engine: AsyncEngine) -> None:
    """Bring the schema to the newest revision; safe when several processes start at once."""
    async with engine.begin() as connection:
        if engine.dialect.name == "postgresql":
            await connection.execute(
                text("SELECT pg_advisory_xact_lock(:number)"), {"number": MIGRATION_LOCK}
            )
        await connection.run_sync(_upgrade)


def _revision(connection: Connection) -> str | None:
    """Return the schema's revision; None for a new database."""
    if not inspect(connection).has_table("alembic_version"):
        return None
    found: str | None = connection.scalar(text("SELECT version_num FROM alembic_version"))
    return found


def _upgrade(connection: Connection) -> None:
    newest = max(path.stem.partition("_")[0] for path in MIGRATIONS.glob("versions/0*.py"))
    if _revision(connection) == newest:
        return
    from alembic import command  # large; a process whose database is up to date needs none of it
    from alembic.config import Config

    config = Config()
    config.set_main_option("script_location", str(MIGRATIONS).replace("%", "%%"))
    config.attributes["connection"] = connection
    command.upgrade(config, "head")
