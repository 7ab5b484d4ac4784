"""Gives every autograd node the line that made it.

Anomaly mode asks Python for a stack each time a node is made, in C++, for built-in operations,
fused kernels and custom functions alike. Answered by a function that only looks for the user's
line, that costs about a microsecond. Where a torch has no such hook, line events and sequence
numbers stand in.
"""

from __future__ import annotations

import bisect
import sys
import threading
from types import FrameType
from typing import Any

import torch

from .frames import INNER, LIBRARY, USER, Activation, Json, library_name, owner, place
from .frames import _owners as owners

ORIGIN = "traceback_"  # the key under which torch keeps a node's stack


class Clock:
    """Counts what the run has done so far, for everyone."""

    visits = 0
    steps = 0


class Stamp(list[str]):
    """What torch stores with a node: a printable stack, and for us the place itself."""

    __slots__ = ("after", "at", "library", "steps")

    def __init__(self, at: Json | None, library: str | None) -> None:
        where = at or {"file": "<unknown>", "line": 0, "function": "?"}
        super().__init__(
            [f'  File "{where["file"]}", line {where["line"]}, in {where["function"]}\n']
        )
        self.at = at
        self.library = library
        self.after = Clock.visits
        self.steps = Clock.steps


def make_stamp() -> list[str]:
    """The stamp of the node being made; called by torch from C++."""
    frame: FrameType | None = sys._getframe(1)
    maker = None
    while frame is not None:
        code = frame.f_code
        whose = owners.get(code) or owner(code)
        if whose is USER:
            break
        if maker is None or (whose is LIBRARY and owner(maker.f_code) is INNER):
            maker = frame
        frame = frame.f_back
    if frame is None:
        return Stamp(None, library_name(maker) if maker is not None else None)
    mark = frame.f_trace
    if type(mark) is not Activation:
        return Stamp(place(frame), library_name(maker) if maker is not None else None)
    now = Clock.visits + Clock.steps
    if mark.after != now:
        mark.after = now
        mark.stamps.clear()
    key = frame.f_lasti if maker is None else (frame.f_lasti, maker.f_code)
    stamp = mark.stamps.get(key)
    if stamp is None:
        library = library_name(maker) if maker is not None else None
        stamp = mark.stamps[key] = Stamp(place(frame), library)
    return stamp


class Stamps:
    """Stamping, switched on by `install`. `kind` is `anomaly`, `lines` or `none`."""

    def __init__(self) -> None:
        self.kind = "none"
        self._lines = _Lines()
        self._set_anomaly = torch.set_anomaly_enabled

    def install(self, hook: bool = True) -> None:
        """Use the hook when it works with this torch, else follow the user's lines."""
        if hook and self._hook() and self._hook_works():
            self.kind = "anomaly"
            self._keep_on()
        else:
            self.pause()
            self.kind = "lines" if self._lines.install() else "none"

    def of(self, node: Any) -> Stamp | None:
        """Where the node was made, if that was seen."""
        if self.kind == "lines":
            return self._lines.of(node)
        stamp = node.metadata.get(ORIGIN)
        return stamp if isinstance(stamp, Stamp) else None

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
        """A script that switches anomaly mode itself decides about the check for NaN alone."""

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
        self._number: Any = getattr(torch._C._autograd, "_get_sequence_nr", None)

    def install(self) -> bool:
        """Follow the lines of user code; false where torch gives out no sequence numbers."""
        if self._number is None:
            return False
        Activation.on_line = self._on_line
        threading.settrace(self._on_call)
        sys.settrace(self._on_call)
        return True

    def _on_call(self, frame: FrameType, event: str, arg: Any) -> Any:
        return Activation() if owner(frame.f_code) == USER else None

    def _on_line(self, frame: FrameType) -> None:
        """Close the range of the line that ran until now."""
        thread = threading.get_ident()
        ends = self._ends.setdefault(thread, [])
        stamps = self._stamps.setdefault(thread, [])
        now = self._number()
        before = self._running.get(thread)
        if before is not None and (not ends or ends[-1] < now):
            ends.append(now)
            stamps.append(before)
        self._running[thread] = Stamp(place(frame), None)

    def of(self, node: Any) -> Stamp | None:
        """The stamp of the first range that ends behind the node's number."""
        thread = threading.get_ident()
        ends = self._ends.get(thread, [])
        at = bisect.bisect_right(ends, node._sequence_nr())
        return self._stamps[thread][at] if at < len(ends) else self._running.get(thread)
