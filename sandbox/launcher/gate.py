"""Limit how many tasks run at once and how many wait."""

from __future__ import annotations

import asyncio
import contextlib
from collections.abc import AsyncIterator


class BusyError(Exception):
    """As many wait as may wait."""


class Gate:
    """Lets `places` through at once and has `queue` more wait, in their order."""

    def __init__(self, what: str, *, places: int, queue: int) -> None:
        self._what = what
        self._places = asyncio.Semaphore(places)
        self._room = places + queue
        self._held = 0

    @contextlib.asynccontextmanager
    async def passing(self) -> AsyncIterator[None]:
        """Hold a place within the block. Raises `BusyError` at once if too many wait."""
        if self._held >= self._room:
            raise BusyError(f"busy: too many {self._what} are waiting")
        self._held += 1
        try:
            async with self._places:
                yield
        finally:
            self._held -= 1
