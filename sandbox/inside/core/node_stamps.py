"""Makes the stamp of an autograd node: the line that made it, and when.

Anomaly mode asks Python for a stack each time a node is made, in C++, for built-in operations,
fused kernels and custom functions alike. Answered by a function that only looks for the user's
line, that costs less than a microsecond.
"""

from __future__ import annotations

import inspect
import sys
from collections.abc import Callable, Generator
from types import CodeType, FrameType
from typing import Any

from .clock import CLOCK
from .frames import (
    LIBRARY,
    OWNERS,
    RESUMED,
    TORCH_MODULES,
    USER,
    Activation,
    Json,
    Mark,
    activation,
    file_name,
    function_name,
    is_own,
    library_name,
)
from .positions import position_at

CODES, SITES = 8192, 8192  # whose sites are kept at most, and of each

_getframe = sys._getframe
Origin = tuple[str, str | None]  # the user's line, and the library's below it


class Site:
    """A place where nodes are made: a line of the user's, and the library's line below it."""

    __slots__ = ("at", "library", "shown")

    def __init__(self, frame: FrameType | None, maker: FrameType | None) -> None:
        self.at: Json | None = None
        theirs = maker if maker is not None and not is_own(maker.f_code) else None
        self.library = library_name(theirs) if theirs is not None else None
        self.shown = ['  File "<unknown>", line 0, in ?\n']
        if frame is not None:
            name, function = file_name(frame.f_code.co_filename), function_name(frame.f_code)
            self.at = {
                "file": name,
                "line": frame.f_lineno or 0,
                "function": function,
                "column": position_at(frame.f_code, frame.f_lasti)[1],
            }
            self.shown = [f'  File "{name}", line {self.at["line"]}, in {function}\n']


class Stamp(list[str]):
    """What torch stores with a node: a printable stack, and for us the place and the time."""

    __slots__ = ("_frame", "_site", "after", "steps")

    def __init__(self, site: Site, frame: int) -> None:
        super().__init__(site.shown)
        self._site = site
        self._frame = frame
        self.after = CLOCK.calls
        self.steps = CLOCK.steps

    @property
    def at(self) -> Json | None:
        """Return the user's line, with the number of the activation."""
        return {**self._site.at, "frame": self._frame} if self._site.at is not None else None

    @property
    def library(self) -> str | None:
        """Return the library's line that did the work."""
        return self._site.library

    @property
    def origin(self) -> Origin:
        """Return both lines, to be compared."""
        return self._site.shown[0], self._site.library


Below = tuple[str, str, int, int]  # of a library's code: file, name, first line, instruction
Key = int | tuple[int, Below]  # an instruction of the user's, and the library's place below it


class _Sites(dict[Key, Site]):
    """The sites of one code of the user's."""

    __slots__ = ("code",)
    code: CodeType


_sites: dict[int, _Sites] = {}  # by the id of the code, which each of them keeps alive


def _sites_of(code: CodeType) -> _Sites:
    sites = _sites.get(id(code))
    if sites is None:
        if len(_sites) >= CODES:
            _sites.clear()
        sites = _sites[id(code)] = _Sites()
        sites.code = code
    return sites


def _callers() -> Generator[FrameType | None, FrameType | None]:
    """Yield the frame that has called who asks.

    That is what `sys._getframe` gives, too, but that raises an audit event each time.
    """
    own: Any = yield None
    while True:
        yield own.f_back.f_back


def _begun() -> Callable[[None], FrameType | None]:
    """Return how to ask for the caller's caller."""
    callers: Any = _callers()
    next(callers)
    callers.send(callers.gi_frame)
    ask: Callable[[None], FrameType | None] = callers.send
    return ask


_caller = _begun()


def _caller_otherwise() -> FrameType | None:
    """Return the caller's caller where the generator could not say it."""
    global _caller
    if inspect.getgeneratorstate(_caller.__self__) == inspect.GEN_CLOSED:  # type: ignore[attr-defined]
        _caller = _begun()  # an interrupt had ended it
    here = _getframe().f_back
    return here.f_back if here is not None else None


def make_stamp() -> list[str]:
    """Return the stamp of the node being made; torch calls this from C++.

    One call of torch may make many nodes: while the innermost frame is at the same instruction,
    everything further out is too, and the last stamp holds.
    """
    try:
        inner = _caller(None)
    except (ValueError, StopIteration):  # another thread asks; it was interrupted
        inner = _caller_otherwise()
    if inner is None:  # a thread of torch's own
        return Stamp(Site(None, None), 0)
    now = CLOCK.calls + CLOCK.steps
    mark, instruction = inner.f_trace, inner.f_lasti
    if type(mark) is Mark or type(mark) is Activation:
        if mark.time == now and mark.instruction == instruction:
            return mark.stamp
    code = inner.f_code if type(mark) is not Activation else None
    stamp = _stamp(inner, code, now)
    if mark is None:
        mark = inner.f_trace  # which that may have left
    if mark is None and code is not None and not code.co_flags & RESUMED:
        mark = inner.f_trace = Mark()
    if isinstance(mark, Mark):
        mark.instruction, mark.time, mark.stamp = instruction, now, stamp
    return stamp


def _stamp(frame: FrameType | None, code: CodeType | None, now: int) -> Stamp:
    """Return the stamp for the user's line that led to this frame, which runs that code: one a
    site between two events. A frame known to be the user's comes without its code.

    Reading a code raises an audit event, as `id` does: what raises none is asked first.
    """
    maker: FrameType | None = None
    below: Below | None = None
    sought = True  # who called torch: a library's frame, else the innermost
    while frame is not None and code is not None:
        whose = OWNERS[code.co_filename]
        if whose is USER:
            break
        if sought and (maker is None or whose is LIBRARY):
            maker = frame
            below = code.co_filename, code.co_name, code.co_firstlineno, frame.f_lasti
            sought = whose is not LIBRARY
        frame, code = frame.f_back, None
        while frame is not None and type(frame.f_trace) is not Activation:
            if not TORCH_MODULES[frame.f_globals.get("__name__")]:
                code = frame.f_code
                break
            frame = frame.f_back
    if frame is None:
        return Stamp(Site(None, maker), 0)
    mark = frame.f_trace
    if type(mark) is not Activation:
        mark = activation(frame)
    key = frame.f_lasti if below is None else (frame.f_lasti, below)
    sites = mark.sites
    if sites is None:
        sites = mark.sites = _sites_of(code or frame.f_code)
    site = sites.get(key)
    if site is None:
        if len(sites) >= SITES:
            sites.clear()
        site = sites[key] = Site(frame, maker)
        CLOCK.sites += 1
    if mark.since != now:
        mark.since = now
        mark.stamps.clear()
    stamp = mark.stamps.get(site)
    if stamp is None:
        stamp = mark.stamps[site] = Stamp(site, mark.number)
    return stamp
