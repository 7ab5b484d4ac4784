"""How a database says that it cannot be reached, is locked, full, or may not be written."""

from __future__ import annotations

import sqlite3

from sqlalchemy import exc


def _troubles() -> tuple[type[Exception], ...]:
    found: list[type[Exception]] = [
        exc.OperationalError,
        exc.InterfaceError,
        exc.InternalError,
        exc.TimeoutError,  # no connection of the pool came free
        sqlite3.OperationalError,
    ]
    try:
        import psycopg  # only with the `postgres` extra
        from procrastinate.exceptions import ConnectorException
    except ImportError:
        return tuple(found)
    return (*found, psycopg.OperationalError, psycopg.InterfaceError, ConnectorException)


STORE_TROUBLE = _troubles()
