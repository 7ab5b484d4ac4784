"""Which lines of the user's run, while it is asked: a branch that did not run holds no fault."""

from __future__ import annotations

import sys
from types import FrameType
from typing import Any

from ..core.frames import OWNERS, USER, Activation, activation, file_name, user_frames

MOST = 100_000  # events, which take some 50 ms: what goes on for longer is not followed
LINES = 4096  # of a file


class ExecutedLines:
    """The lines that ran from `begin` to `end`, by file; none if there were too many events."""

    def __init__(self) -> None:
        self._lines: dict[str, set[int]] = {}
        self._left = MOST

    def begin(self) -> None:
        """Follow the lines of the thread, once, unless somebody else does."""
        if self._left == MOST and sys.gettrace() is None and Activation.on_event is None:
            Activation.on_event = self._event
            sys.settrace(self._call)
            for frame in user_frames(sys._getframe()):
                activation(frame)

    def end(self) -> None:
        """Follow them no longer."""
        if Activation.on_event == self._event:
            Activation.on_event = None
            sys.settrace(None)

    @property
    def ran(self) -> list[tuple[str, list[int]]]:
        """Return the lines of each file, in order."""
        found = [(file_name(file), sorted(lines)[:LINES]) for file, lines in self._lines.items()]
        return found[:LINES]

    def _call(self, frame: FrameType, event: str, arg: Any) -> Activation | None:
        self._count()
        return activation(frame) if OWNERS[frame.f_code.co_filename] is USER else None

    def _event(self, frame: FrameType, event: str, arg: Any) -> None:
        self._lines.setdefault(frame.f_code.co_filename, set()).add(frame.f_lineno or 0)
        self._count()

    def _count(self) -> None:
        self._left -= 1
        if self._left <= 0:
            self.end()
            self._lines.clear()
