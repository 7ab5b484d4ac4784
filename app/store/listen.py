"""Wake-ups from other processes: PostgreSQL's LISTEN, passed on within this one."""

from __future__ import annotations

import asyncio

import structlog
from sqlalchemy import make_url

from app.store.wakeups import Wakeups

CHANNEL = "gradmend_diagnoses"
RECONNECT_S = 1.0

log = structlog.get_logger()


def plain_url(url: str) -> str:
    """Return an SQLAlchemy URL as libpq takes it."""
    return make_url(url).set(drivername="postgresql").render_as_string(hide_password=False)


async def listen(url: str, wakeups: Wakeups) -> None:
    """Pass notifications on until cancelled; a lost connection is made again."""
    import psycopg  # only with the `postgres` extra

    while True:
        try:
            connection = await psycopg.AsyncConnection.connect(plain_url(url), autocommit=True)
            async with connection:
                await connection.execute(f"LISTEN {CHANNEL}")
                async for notice in connection.notifies():
                    wakeups.wake(notice.payload)
        except psycopg.OperationalError as error:
            log.warning("listening to the database ended; trying again", error=type(error).__name__)
        await asyncio.sleep(RECONNECT_S)
