"""Measure the lag of an event loop and log what blocks it."""

from __future__ import annotations

import asyncio
import inspect
import logging
import sys
import threading
import time
import traceback
from collections.abc import Callable
from types import CodeType, FrameType

PERIOD_S = 0.05
STUCK_S = 0.25
_FRAMES = 12

log = logging.getLogger(__name__)


class LagWatch:
    """Report the lag of the running loop, in seconds, twenty times a second. If the loop is blocked
    for longer than `STUCK_S`, log its stack: places only, no values.

    What blocks the loop within one C call is seen once that call lets Python run again. Time during
    which the kernel kept its thread waiting for a processor counts as lag, but not as blocked.
    """

    def __init__(self, tell: Callable[[float], None]) -> None:
        self._tell = tell
        self._beat = time.monotonic()
        self._waited = 0.0  # seconds for which the thread had waited for a processor at that time
        self._native = 0
        self._ended = threading.Event()
        self._loop_thread = threading.get_ident()
        self._below: CodeType | None = None  # the code that calls the loop's tasks

    async def run(self) -> None:
        """Watch the running loop until cancelled."""
        self._loop_thread = threading.get_ident()
        self._native = threading.get_native_id()
        self._below = _caller_of_tasks(sys._getframe())
        self._waited, self._beat = cpu_wait_s(self._native), time.monotonic()
        threading.Thread(target=self._look, name="lag", daemon=True).start()
        try:
            while True:
                await asyncio.sleep(PERIOD_S)
                now = time.monotonic()
                self._tell(max(0.0, now - self._beat - PERIOD_S))
                self._waited, self._beat = cpu_wait_s(self._native), now
        finally:
            self._ended.set()

    def _look(self) -> None:
        """Log one line for each time that the loop is blocked; runs in the watching thread."""
        reported = 0.0
        while not self._ended.wait(PERIOD_S):
            beat, before = self._beat, self._waited
            if reported == beat or time.monotonic() - beat <= STUCK_S + PERIOD_S:
                continue
            waited = cpu_wait_s(self._native) - before
            if time.monotonic() - beat - waited > STUCK_S + PERIOD_S:
                frame = sys._current_frames().get(self._loop_thread)
                if frame is not None and not self._waits(frame):
                    reported = beat
                    log.warning("the event loop is stuck at %s", _places(frame))

    def _waits(self, frame: FrameType) -> bool:
        """Return True if the loop only waits for events. On an overloaded machine it may still be
        late, but no code of the service blocks it.
        """
        caller = frame.f_back
        selects = caller is not None and caller.f_code.co_name == "_run_once"
        return frame.f_code is self._below or (selects and frame.f_code.co_name == "select")


def cpu_wait_s(thread: int) -> float:
    """Return the seconds for which a thread of this process (kernel thread id) was ready but waited
    for a processor; 0 if the kernel does not report it.
    """
    try:
        with open(f"/proc/self/task/{thread}/schedstat", encoding="ascii") as file:
            return int(file.read().split()[1]) / 1e9
    except (OSError, IndexError, ValueError):
        return 0.0


def _caller_of_tasks(frame: FrameType) -> CodeType | None:
    """Return the code that calls a task: asyncio's handle or, if the loop is in C, what runs the
    loop.
    """
    above: FrameType | None = frame
    while above is not None and above.f_code.co_flags & inspect.CO_COROUTINE:
        above = above.f_back
    return above.f_code if above is not None else None


def _places(frame: FrameType) -> str:
    """Return a thread's stack, innermost first."""
    stack = traceback.extract_stack(frame)[-_FRAMES:]
    return " < ".join(f"{at.filename}:{at.lineno} {at.name}" for at in reversed(stack))
