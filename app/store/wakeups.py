"""Notify those who wait for a diagnosis that something happened to it.

A wake-up is only a hint: whoever waits reads the store again, and looks once a second anyway, so
that a lost hint costs a moment and never an event.
"""

from __future__ import annotations

import asyncio
import contextlib
from collections import defaultdict
from collections.abc import Iterator

LOOK_AGAIN_S = 1.0


class Wakeups:
    """Wake-ups within this process, by diagnosis."""

    def __init__(self) -> None:
        self._waiting: dict[str, set[asyncio.Event]] = defaultdict(set)
        self.closing = False

    @contextlib.contextmanager
    def watching(self, diagnosis_id: str) -> Iterator[asyncio.Event]:
        """Yield an event that is set whenever the diagnosis changes; clear it before looking."""
        happened = asyncio.Event()
        self._waiting[diagnosis_id].add(happened)
        try:
            yield happened
        finally:
            self._waiting[diagnosis_id].discard(happened)
            if not self._waiting[diagnosis_id]:
                del self._waiting[diagnosis_id]

    def wake(self, diagnosis_id: str) -> None:
        """Notify those who watch this diagnosis."""
        for happened in self._waiting.get(diagnosis_id, ()):
            happened.set()

    def close(self) -> None:
        """Make everybody stop waiting: the process is about to end."""
        self.closing = True
        for waiting in self._waiting.values():
            for happened in waiting:
                happened.set()


async def moment(happened: asyncio.Event, seconds: float = LOOK_AGAIN_S) -> None:
    """Wait for a wake-up, or until it is time to look again."""
    with contextlib.suppress(TimeoutError):
        await asyncio.wait_for(happened.wait(), seconds)
