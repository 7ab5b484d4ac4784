"""Notices a script that reaches for the tracer itself.

Script and tracer share a process, so nothing in it is out of reach for good. What can be done: no
frame above the script holds anything of the tracer's, its objects are kept out of what the
collector shows, and the ways that are left say that they were used. An audit hook hears of the use
before it happens, and cannot be removed.
"""

from __future__ import annotations

import gc
import inspect
import sys
from collections.abc import Callable, Iterator, Mapping, Sequence, Set
from dataclasses import dataclass
from types import CodeType, FrameType, FunctionType
from typing import Any

from .core import frames
from .core.call_stack import standing
from .core.node_stamps import make_stamp
from .core.own_modules import PACKAGE, own_modules

_MOST = 16
_MISSING = object()
# What honest training code has no use for; whoever asks for it asks for the tracer.
_SEARCHES = {
    "gc.get_referrers": "it searched the collector for the tracer",
    "sys._current_frames": "it read the frames of every thread",
}
_EVENTS = {"import", *_SEARCHES}


@dataclass(frozen=True)
class GuardedItem:
    """Something of the tracer's as it was when the script began."""

    name: str
    holder: Mapping[str, object]
    key: str
    value: object
    code: object = None

    def renewed(self) -> GuardedItem:
        """Return the part again, if an instrument has put another thing there since."""
        value = self.holder.get(self.key, _MISSING)
        return self if value is self.value else _part(self.name, self.holder, self.key, value)

    def changed(self) -> bool:
        """Return True if another thing is there, or the function does something else."""
        now = self.holder.get(self.key, _MISSING)
        return now is not self.value or getattr(now, "__code__", None) is not self.code


_prepared: dict[str, list[GuardedItem]] = {}


def prepare() -> None:
    """Look at the tracer's code once, in a warm parent, for all the runs that it forks."""
    _prepared.update((name, list(_code(name))) for name in own_modules())


def _taken() -> list[GuardedItem]:
    """Return the tracer's code as it was, and hide it: no module leads to it from here on."""
    parts = [part for name in own_modules() for part in _prepared.get(name) or _code(name)]
    _prepared.clear()
    return [part.renewed() for part in parts]


class Guard:
    """The tracer's code and objects as they were, and what the script did to get at them."""

    def __init__(self) -> None:
        self._found: list[str] = []
        self._parts: list[GuardedItem] = []

    def begin(
        self, watched: Sequence[tuple[object, Sequence[str]]], bare: Sequence[Callable[..., Any]]
    ) -> None:
        """Begin to guard, just before the script runs.

        `watched` has objects with those of their attributes that never change; no other attribute
        of theirs is looked at. The frames of `bare` functions are above the script, the first of
        them topmost, and hold nothing of the tracer's.
        """
        self._parts = [*_taken(), *_attributes(watched)]
        gc.collect()
        gc.freeze()
        codes = [inspect.unwrap(each).__code__ for each in bare]
        sys.addaudithook(_hook(self._found, codes[0], frozenset(codes)))

    def found(self) -> list[str]:
        """Return what the script did, each as a sentence."""
        changed = [f"it changed {part.name}" for part in self._parts if part.changed()]
        return list(dict.fromkeys([*self._found, *changed]))[:_MOST]


def _code(name: str) -> Iterator[GuardedItem]:
    """Yield every function and class of a module, and what its own classes hold."""
    held, short = vars(sys.modules[name]), name.removeprefix(PACKAGE + ".")
    for key, value in list(held.items()):
        if isinstance(value, FunctionType | type):
            yield _part(f"the tracer's {short}.{key}", held, key, value)
        if isinstance(value, type) and value.__module__ == name:
            yield from _methods(f"the tracer's {key}", value)


def _methods(name: str, kind: type) -> Iterator[GuardedItem]:
    for key, value in list(vars(kind).items()):
        if isinstance(value, FunctionType):
            yield _part(f"{name}.{key}", vars(kind), key, value)


def _attributes(watched: Sequence[tuple[object, Sequence[str]]]) -> Iterator[GuardedItem]:
    """Yield attributes of objects, checked against instance attributes that hide a method."""
    for held, keys in watched:
        kind, own = type(held), vars(held)
        name = f"the tracer's {kind.__name__.lower()}"
        for key in keys:
            yield _part(name, own, key, own.get(key, _MISSING))
        for key, _ in inspect.getmembers_static(kind, inspect.isfunction):
            if key not in own:
                yield GuardedItem(f"{name}.{key}", own, key, _MISSING)


def _part(name: str, holder: Mapping[str, object], key: str, value: object) -> GuardedItem:
    return GuardedItem(name, holder, key, value, getattr(value, "__code__", None))


Heard = Callable[[str, tuple[Any, ...]], None]
Judged = Callable[[str, tuple[Any, ...], FrameType], str | None]
# Closures that hold all that they use, so that the script can replace none of it.


def _hook(found: list[str], top: CodeType, bare: Set[CodeType]) -> Heard:
    """Return an audit hook that adds to `found` what the script does."""
    frame_of, most, events = sys._getframe, _MOST, frozenset(_EVENTS)
    stamping, calling = make_stamp.__globals__, standing.__globals__
    judged = _judge(_nesting(top, bare))
    busy: list[bool] = []

    def heard(event: str, arguments: tuple[Any, ...]) -> None:
        # what the tracer itself does at each node of a program is let go at once; asking a frame
        # for its code would raise another event
        if event == "sys._getframe":
            asked = arguments[0].f_globals
            if asked is stamping or asked is calling:
                return
        elif event == "object.__getattr__":
            if arguments[1] != "tb_frame":
                return
        elif event not in events:
            return
        if busy or len(found) >= most:
            return
        busy.append(True)
        try:
            said = judged(event, arguments, frame_of(1))
        finally:
            busy.clear()
        if said is not None:
            found.append(said)

    return heard


def _judge(nested: Callable[[FrameType], bool]) -> Judged:
    """Return a function that says what an event, seen at a frame, did to the tracer; or None."""
    user, owner, own = frames.USER, frames.owner, frames.is_own
    searches, package = dict(_SEARCHES), PACKAGE
    profiling, tracing, function = sys.getprofile, sys.gettrace, FunctionType
    inspecting = inspect.__file__

    def judged(event: str, arguments: tuple[Any, ...], frame: FrameType) -> str | None:
        for watching in (profiling(), tracing()):
            if type(watching) is function and owner(watching.__code__) == user:
                return "it watched the tracer's calls"
        asking = frame.f_back if frame.f_code.co_filename == inspecting else frame
        if asking is None or owner(asking.f_code) != user:
            return None
        if event == "import":
            return "it imported the tracer" if str(arguments[0]).startswith(package) else None
        if event == "sys._getframe":
            return "it read frames of the tracer" if nested(asking) else None
        if event == "object.__getattr__":
            read = arguments[1] == "tb_frame" and own(arguments[0].tb_frame.f_code)
            return "it read frames of the tracer" if read else None
        return searches[event]

    return judged


def _nesting(top: CodeType, bare: Set[CodeType]) -> Callable[[FrameType], bool]:
    """Return a function that says whether a frame of the tracer's that holds something is between a
    frame and the top."""
    own = frames.is_own

    def nested(frame: FrameType) -> bool:
        above = frame.f_back
        while above is not None and above.f_code is not top:
            if own(above.f_code) and above.f_code not in bare:
                return True
            above = above.f_back
        return False

    return nested
