"""How late an event loop is, and what held it up."""

from __future__ import annotations

import asyncio
import logging
import sys
import threading
import time
import traceback
from collections.abc import Callable
from types import FrameType

PERIOD_S = 0.05
STUCK_S = 0.25
_FRAMES = 12

log = logging.getLogger(__name__)


class LagWatch:
    """Tells the lag of the running loop, in seconds, twenty times a second; a loop that is stuck
    for longer than `STUCK_S` has its stack logged: places only, no values.

    What holds the loop within one call of C is seen once that call lets Python run again.
    """

    def __init__(self, tell: Callable[[float], None]) -> None:
        self._tell = tell
        self._beat = time.monotonic()
        self._ended = threading.Event()
        self._loop_thread = threading.get_ident()

    async def run(self) -> None:
        """Watch the running loop until cancelled."""
        self._loop_thread = threading.get_ident()
        self._beat = time.monotonic()
        threading.Thread(target=self._look, name="lag", daemon=True).start()
        try:
            while True:
                await asyncio.sleep(PERIOD_S)
                now = time.monotonic()
                self._tell(max(0.0, now - self._beat - PERIOD_S))
                self._beat = now
        finally:
            self._ended.set()

    def _look(self) -> None:
        """The watching thread: one line for each time that the loop is stuck."""
        told = 0.0
        while not self._ended.wait(PERIOD_S):
            beat = self._beat
            if time.monotonic() - beat > STUCK_S + PERIOD_S and told != beat:
                told = beat
                frame = sys._current_frames().get(self._loop_thread)
                log.warning("the event loop is stuck at %s", _places(frame))


def _places(frame: FrameType | None) -> str:
    """Where a thread is, innermost first."""
    stack = traceback.extract_stack(frame)[-_FRAMES:] if frame is not None else []
    return " < ".join(f"{at.filename}:{at.lineno} {at.name}" for at in reversed(stack))
