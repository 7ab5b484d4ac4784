"""Errors of our own: noted, and kept from the script that is looked at."""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

MOST = 8  # notes


def notify_safely(listener: Callable[..., Any], *news: Any, notes: list[str]) -> Any:
    """Call a listener and return its result; what it raises is noted, once, and goes no further."""
    try:
        return listener(*news)
    except Exception as error:
        slipped(listener, error, notes)
        return None


def slipped(listener: Callable[..., Any], error: Exception, notes: list[str]) -> None:
    """Note an error of our own."""
    note = f"{listener.__qualname__}: {type(error).__name__}: {error}"
    if len(notes) < MOST and note not in notes:
        notes.append(note)
