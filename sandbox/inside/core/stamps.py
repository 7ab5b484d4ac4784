"""Gives every autograd node the line that made it.

Anomaly mode asks Python for a stack each time a node is made, in C++, for built-in operations,
fused kernels and custom functions alike. Answered by a function that only looks for the user's
line, that costs less than a microsecond. Where a torch has no such hook, line events and sequence
numbers stand in.
"""

from __future__ import annotations

import bisect
import sys
import threading
from collections.abc import Iterable
from types import CodeType, FrameType
from typing import Any

import torch

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
    owner,
    position_at,
)

ORIGIN = "traceback_"  # the key under which torch keeps a node's stack
CODES, SITES = 8192, 8192  # whose sites are kept at most, and of each

_getframe = sys._getframe


class Clock:
    """Counts what the run has done so far, for everyone."""

    calls = 0
    steps = 0
    sites = 0  # places where nodes were made
    closure = 0  # calls of its closure, in the step that runs
    first_node = 0  # the number that torch gives to the first node of the script
    evaluated_since: int | None = None  # in a closure's second evaluation: the next node's number
    # as its first began


def number_of(node: Any) -> int:
    """Return the node's number: torch counts them, thread by thread, as they are made."""
    return int(node._sequence_nr()) - Clock.first_node


def next_number() -> int:
    """Return the number that this thread's next node will get; 0 if torch does not expose it."""
    number: Any = getattr(torch._C._autograd, "_get_sequence_nr", None)
    return int(number()) if number is not None else 0


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
        self.after = Clock.calls
        self.steps = Clock.steps

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


class _Sites(dict[tuple[int, Below], Site]):
    """The sites of one code of the user's, by its instruction and the library's place below it."""

    __slots__ = ("code",)
    code: CodeType


_sites: dict[int, _Sites] = {}  # by the id of the code, which each of them keeps alive
_NOTHING: Below = ("", "", 0, 0)


def _sites_of(code: CodeType) -> _Sites:
    sites = _sites.get(id(code))
    if sites is None:
        if len(_sites) >= CODES:
            _sites.clear()
        sites = _sites[id(code)] = _Sites()
        sites.code = code
    return sites


def make_stamp() -> list[str]:
    """Return the stamp of the node being made; torch calls this from C++.

    One call of torch may make many nodes: while the innermost frame is at the same instruction,
    everything further out is too, and the last stamp holds.
    """
    inner = _getframe().f_back
    if inner is None:  # a thread of torch's own
        return Stamp(Site(None, None), 0)
    now = Clock.calls + Clock.steps
    mark, instruction = inner.f_trace, inner.f_lasti
    if isinstance(mark, Mark) and mark.time == now and mark.instruction == instruction:
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
    maker, below = None, _NOTHING
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
    if mark.since != now:
        mark.since = now
        mark.stamps.clear()
    key = frame.f_lasti, below
    stamp = mark.stamps.get(key)
    if stamp is None:
        sites = mark.sites
        if sites is None:
            sites = mark.sites = _sites_of(code or frame.f_code)
        site = sites.get(key)
        if site is None:
            if len(sites) >= SITES:
                sites.clear()
            site = sites[key] = Site(frame, maker)
            Clock.sites += 1
        stamp = mark.stamps[key] = Stamp(site, mark.number)
    return stamp


class Stamps:
    """Stamping, switched on by `install`. `kind` is `anomaly`, `lines` or `none`.

    `are_complete` if every node that a script makes has a stamp.
    """

    def __init__(self) -> None:
        self.kind = "none"
        self.are_complete = False
        self._lines = _Lines()
        self._set_anomaly = torch.set_anomaly_enabled

    def install(self, hook: bool = True) -> None:
        """Use the hook when it works with this torch, else follow the user's lines."""
        if hook and self._hook() and self._hook_works():
            self.kind, self.are_complete = "anomaly", True
            self._keep_on()
        else:
            self.pause()
            self.kind = "lines" if self._lines.install() else "none"

    def of(self, node: Any) -> Stamp | None:
        """Return where the node was made, if that was seen."""
        if self.kind == "lines":
            return self._lines.of(node)
        stamp = node.metadata.get(ORIGIN)
        return stamp if isinstance(stamp, Stamp) else None

    def place(self, node: Any) -> Json | None:
        """Return the user's line that made the node, if that was seen."""
        stamp = self.of(node)
        return stamp.at if stamp is not None else None

    def origins(self, nodes: Iterable[Any]) -> set[Origin]:
        """Return where these nodes were made, as far as that was seen."""
        return {stamp.origin for node in nodes if (stamp := self.of(node)) is not None}

    def oldest(self, nodes: Iterable[Any]) -> int | None:
        """Return how many calls were completed when the first of these nodes was made, if known."""
        if self.kind == "lines":
            known = [stamp.after for node in nodes if (stamp := self._lines.of(node)) is not None]
        else:
            made = [node.metadata.get(ORIGIN) for node in nodes]
            known = [stamp.after for stamp in made if type(stamp) is Stamp]
        return min(known, default=None)

    def pause(self) -> None:
        """Make no stamps, so that errors read as they do in a plain run."""
        self._set_anomaly(False)

    def resume(self) -> None:
        if self.kind == "anomaly":
            self._set_anomaly(True, self._check_nan)

    _check_nan = False

    def _hook(self) -> bool:
        try:
            import torch.fx.traceback as hook
        except ImportError:
            return False
        if not hasattr(hook, "format_stack"):
            return False
        hook.format_stack = make_stamp
        self._set_anomaly(True, False)
        return True

    def _hook_works(self) -> bool:
        """Ask a real node for its stamp."""
        leaf = torch.ones((), requires_grad=True)
        with torch.enable_grad():
            node: Any = (leaf * 2).grad_fn
        try:
            return isinstance(node.metadata.get(ORIGIN), Stamp)
        except AttributeError:
            return False

    def _keep_on(self) -> None:
        """Keep anomaly mode on: a script that switches it decides about the check for NaN alone."""

        def set_anomaly_enabled(mode: bool, check_nan: bool = True) -> None:
            self._check_nan = mode and check_nan
            self._set_anomaly(True, self._check_nan)

        setattr(torch, "set_anomaly_enabled", set_anomaly_enabled)  # noqa: B010


class _Lines:
    """The fallback: which line was running while which sequence numbers were given out."""

    def __init__(self) -> None:
        self._ends: dict[int, list[int]] = {}
        self._stamps: dict[int, list[Stamp]] = {}
        self._running: dict[int, Stamp] = {}

    def install(self) -> bool:
        """Follow the lines of user code; false where torch gives out no sequence numbers."""
        if getattr(torch._C._autograd, "_get_sequence_nr", None) is None:
            return False
        Activation.on_event = self._on_event
        threading.settrace(self._on_call)
        sys.settrace(self._on_call)
        return True

    def _on_call(self, frame: FrameType, event: str, arg: Any) -> Any:
        return Activation() if owner(frame.f_code) == USER else None

    def _on_event(self, frame: FrameType, event: str, arg: Any) -> None:
        """Close the range of the line that ran until now, as a line begins."""
        if event != "line":
            return
        thread = threading.get_ident()
        ends = self._ends.setdefault(thread, [])
        stamps = self._stamps.setdefault(thread, [])
        now = next_number()
        before = self._running.get(thread)
        if before is not None and (not ends or ends[-1] < now):
            ends.append(now)
            stamps.append(before)
        self._running[thread] = Stamp(Site(frame, None), activation(frame).number)

    def of(self, node: Any) -> Stamp | None:
        """Return the stamp of the first range that ends after the node's number."""
        thread = threading.get_ident()
        ends = self._ends.get(thread, [])
        at = bisect.bisect_right(ends, node._sequence_nr())
        return self._stamps[thread][at] if at < len(ends) else self._running.get(thread)
