"""How a database says that it cannot be reached, is locked, full, or may not be written."""

from __future__ import annotations

import sqlite3

from sqlalchemy import exc


def troubles(*, postgres: bool) -> tuple[type[Exception], ...]:
    """Return what SQLAlchemy and the driver of this database raise then."""
    found: list[type[Exception]] = [
        exc.OperationalError,
        exc.InterfaceError,
        exc.InternalError,
        exc.TimeoutError,  # no connection of the pool came free
        sqlite3.OperationalError,
    ]
    if not postgres:
        return tuple(found)
    import psycopg  # only with the `postgres` extra
    from procrastinate.exceptions import ConnectorException

    return (*found, psycopg.OperationalError, psycopg.InterfaceError, ConnectorException)
