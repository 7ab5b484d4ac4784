"""What is being done while a command's result is worked out, on standard error."""

from __future__ import annotations

import asyncio
import sys
from collections.abc import AsyncIterator
from contextlib import asynccontextmanager
from time import monotonic

from app.present.visible import visible
from gradmend.run_wrapper.stderr import say

TICK_S = 1.0


class ProgressLine:
    """On a terminal (`live`) one line, which counts what is done and the seconds since it began;
    elsewhere a line for each step."""

    def __init__(self) -> None:
        self.live = sys.stderr.isatty()
        self._message = self._doing = ""
        self._began = monotonic()

    def show(self, message: str, done: int, total: int) -> None:
        """Show what is being done, and how much of it is, unless all was when it began."""
        begun = message == self._message or done < total
        counted = f" ({done} of {total} done)" if begun and done and total > 1 else ""
        doing = f"{visible(message)}{counted} …"
        if doing != self._doing and not self.live:
            say(doing)
        self._message, self._doing = message, doing
        self._draw()

    def clear(self) -> None:
        """Take the line away; what is printed next takes its place."""
        self._write("")

    @asynccontextmanager
    async def ticking(self) -> AsyncIterator[None]:
        """Renew the line once a second: a step may take long."""
        ticks = asyncio.create_task(self._tick())
        try:
            yield
        finally:
            ticks.cancel()
            self.clear()

    async def _tick(self) -> None:
        while self.live:
            await asyncio.sleep(TICK_S)
            self._draw()

    def _draw(self) -> None:
        seconds = int(monotonic() - self._began)
        if self._doing:
            self._write(f"{self._doing} {seconds} s" if seconds else self._doing)

    def _write(self, text: str) -> None:
        if self.live:
            print(f"\r\x1b[K{text}", end="", file=sys.stderr, flush=True)
