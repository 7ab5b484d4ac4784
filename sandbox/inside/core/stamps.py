"""Gives every autograd node the line that made it: by anomaly mode's hook, where this torch has it.

Elsewhere it uses line events and sequence numbers.
"""

from __future__ import annotations

import bisect
import sys
import threading
from collections.abc import Iterable
from types import FrameType
from typing import Any

import torch

from .clock import next_number
from .frames import USER, Activation, Json, activation, owner
from .node_stamps import Origin, Site, Stamp, make_stamp

ORIGIN = "traceback_"  # the key under which torch keeps a node's stack


class Stamps:
    """Stamping, switched on by `install`. `kind` is `anomaly`, `lines` or `none`.

    `are_complete` if every node that a script makes has a stamp.
    """

    def __init__(self) -> None:
        self.kind = "none"
        self.are_complete = False
        self._lines = _Lines()
        self._set_anomaly = torch.set_anomaly_enabled
        self._asked = (False, False)  # for anomaly mode, and its check for NaN, by the script

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
        self._set_anomaly(*self._asked)

    def resume(self) -> None:
        if self.kind == "anomaly":
            self._set_anomaly(True, self._asked[1])

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
        """Keep anomaly mode on: a script that switches it decides about its own backward calls."""

        def set_anomaly_enabled(mode: bool, check_nan: bool = True) -> None:
            self._asked = mode, mode and check_nan
            self._set_anomaly(True, self._asked[1])

        shown = {
            "set_anomaly_enabled": set_anomaly_enabled,
            "is_anomaly_enabled": lambda: self._asked[0],
            "is_anomaly_check_nan_enabled": lambda: self._asked[1],
        }
        for name, function in shown.items():
            setattr(torch, name, function)


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
