"""Notices a script that reaches for the tracer itself.

Script and tracer share a process, so nothing in it can be out of reach for good. What can be done:
the tracer's objects are taken out of what the collector shows, and the ways that are left say that
they were used. The audit hook cannot be removed, and is told of the use before it happens.
"""

from __future__ import annotations

import gc
import sys
from collections.abc import Callable
from types import CodeType, FrameType, FunctionType
from typing import Any

from . import frames

PACKAGE = __name__.rpartition(".")[0]
_MOST = 16
# Events of the interpreter that honest training code has no use for, when user code causes them.
_REACHING = {
    "gc.get_referrers": "it searched the collector for what refers to an object",
    "sys._current_frames": "it read the frames of every thread",
    "sys.settrace": "it traced the code that observes it",
    "sys.setprofile": "it profiled the code that observes it",
    "code.__new__": "it made code objects of its own",
}


class Guard:
    """The uses of the interpreter that lead to the tracer, and the tracer's code as it was."""

    def __init__(self) -> None:
        self._found: list[str] = []
        self._sealed: list[tuple[str, Any, str, object]] = []

    def begin(self, watched: list[object]) -> None:
        """Seal the tracer's classes, functions and the `watched` objects; hide them from the
        collector; hear of what the script does from here on."""
        self._sealed = [*_code(), *_members(watched)]
        gc.collect()
        gc.freeze()
        sys.addaudithook(_hook(self._found))

    def found(self) -> list[str]:
        """What the script did, in words."""
        said = [f"it changed {name}" for name, *seal in self._sealed if _differs(*seal)]
        return list(dict.fromkeys([*self._found, *said]))[:_MOST]


def _hook(found: list[str]) -> Callable[[str, tuple[Any, ...]], None]:
    """The hook has all that it needs within: nothing that it asks can be replaced."""
    frame_of, owner, user, most = sys._getframe, frames.owner, frames.USER, _MOST
    reaching, package = dict(_REACHING), PACKAGE

    def heard(event: str, arguments: tuple[Any, ...]) -> None:
        if len(found) >= most:
            return
        said = reaching.get(event)
        if event == "import" and str(arguments[0]).startswith(package):
            said = "it imported the tracer"
        if said is not None and owner(frame_of(1).f_code) == user:
            found.append(said)

    return heard
