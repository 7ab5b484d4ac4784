"""Follows a carried value: which name held it in which frame, after which statement.

This is the second run of a script that reached freed nodes. The first run recorded their numbers;
here, at every line of the user's code from the creation of the first of them to the failing call,
names are checked for tensors of theirs.
"""

from __future__ import annotations

import sys
import threading
import time
from collections.abc import Iterable, Iterator, Mapping
from dataclasses import dataclass, field
from types import FrameType
from typing import Any

import torch

from ..core.clock import CLOCK, next_number, number_of
from ..core.emitter import Emitter
from ..core.engine import Call, Observer
from ..core.frames import OWNERS, USER, Activation, Json, activation, place, user_frames
from ..core.graph import says_changed, says_reused, walk
from ..core.stamps import Stamps
from ..core.value_shapes import Trees, kind_of, parts

BINDINGS, EVENTS, LOOKS, SECONDS, DEPTH = 128, 20_000, 400_000, 4.0, 6
VALUES = ("tensor", "tuple", "list", "dict", "deque", "namedtuple", "dataclass")
_HOLDERS = (*VALUES, "object", "module")

WantedTensors = Mapping[tuple[int, int], int]  # node number, output → stale edge


@dataclass(frozen=True, slots=True)
class TensorPath:
    """A path to a wanted tensor; `name` leads to the outermost plain structure on it."""

    name: str
    whole: Any
    path: str
    edge: int


@dataclass(slots=True)
class ValueLook:
    """One look at what a name denotes."""

    wanted: WantedTensors
    budget: int
    _seen: set[int] = field(default_factory=set)

    def at(self, name: str, value: Any, depth: int = DEPTH) -> Iterator[TensorPath]:
        """Yield the wanted tensors that the value is or holds."""
        yield from self._below(name, value, kind_of(value), depth, None)

    def _below(
        self, path: str, value: Any, kind: str, depth: int, whole: tuple[str, Any] | None
    ) -> Iterator[TensorPath]:
        self.budget -= 1
        if kind not in _HOLDERS or self.budget < 0:
            return
        if whole is None and kind in VALUES:
            whole = (path, value)
        if kind == "tensor":
            edge = self.wanted.get(_number(value), -1)
            if edge >= 0 and whole is not None:
                yield TensorPath(*whole, path, edge)
        elif depth and id(value) not in self._seen:
            self._seen.add(id(value))
            for how, key, item in parts(value, kind):
                inner = kind_of(item)
                if inner in _HOLDERS:
                    below = _extended(path, how, key, type(value))
                    left = depth if inner == "module" else depth - 1
                    yield from self._below(below, item, inner, left, whole)


def _number(tensor: Any) -> tuple[int, int]:
    node = tensor.grad_fn
    return (-1, 0) if node is None else (number_of(node), tensor.output_nr)


def _extended(path: str, how: str, key: Any, kind: type) -> str:
    if how == "item":
        return f"{path}[{key!r}]" if type(key) in (int, str, bool) else f"{path}[…]"
    if how.startswith("class "):
        return f"{how.removeprefix('class ')}.{key}"
    listed = issubclass(kind, torch.nn.Sequential | torch.nn.ModuleList)
    return f"{path}[{key}]" if how == "module" and listed else f"{path}.{key}"


class PathWatch(Observer):
    """Takes the steps of every frame of the user while there is something to follow."""

    def __init__(self, emitter: Emitter, follow: Iterable[tuple[int, int]], freed: int) -> None:
        self._emitter = emitter
        self._wanted = {(int(n), int(output)): i for i, (n, output) in enumerate(follow)}
        self._first = min((n for n, _ in self._wanted), default=0)
        self._freed = freed
        self._trees = Trees()
        self._bindings: dict[tuple[Any, ...], Json] = {}
        self._left = {"events": EVENTS, "looks": LOOKS}
        self._nones: set[tuple[Any, str]] = set()
        self._lines: dict[int, int] = {}
        self._clock = time.monotonic
        self._until: float | None = None
        self._thread = threading.get_ident()

    def install(self, stamps: Stamps) -> None:
        """Begin to trace; not where lines are traced already for want of a better stamp."""
        if stamps.kind == "anomaly":
            Activation.on_event = self._event
            sys.settrace(self._call)

    def _call(self, frame: FrameType, event: str, arg: Any) -> Any:
        if OWNERS[frame.f_code.co_filename] is not USER:
            return None
        mark = Activation()
        self._event(frame, "call", arg, mark.number)
        return mark

    def _event(self, frame: FrameType, event: str, arg: Any, number: int | None = None) -> None:
        number = activation(frame).number if number is None else number
        before = self._lines.get(number)
        self._lines[number] = frame.f_lineno or 0
        if event == "return":
            self._lines.pop(number, None)
        if event == "exception" or threading.get_ident() != self._thread:
            return
        if next_number() - CLOCK.first_node <= self._first:
            if event == "line":
                self._note_nones(frame)
            return
        if self._may_look():
            with torch._C.DisableTorchFunctionSubclass():
                self._look(frame, event, arg, number, before)

    def _may_look(self) -> bool:
        """Return True if time and budgets allow another look; otherwise end tracing."""
        if self._until is None:
            self._until = self._clock() + SECONDS
        self._left["events"] -= 1
        if (
            min(self._left.values()) < 0
            or self._clock() > self._until
            or len(self._bindings) >= BINDINGS
        ):
            self._stop()
            return False
        return True

    def _stop(self) -> None:
        Activation.on_event = None
        sys.settrace(None)

    def _note_nones(self, frame: FrameType) -> None:
        """Record what is None before there is anything to follow: it may need a guard."""
        self._left["events"] -= 1
        if self._left["events"] < EVENTS // 2:
            return
        for name, value in list(frame.f_locals.items()):
            if value is None:
                self._nones.add((frame.f_code, name))
            elif kind_of(value) in ("object", "dataclass", "module"):
                for _, key, item in parts(value, "object"):
                    if item is None:
                        self._nones.add((frame.f_code, f"{name}.{key}"))

    def _look(
        self, frame: FrameType, event: str, arg: Any, number: int, before: int | None
    ) -> None:
        how = {"call": "argument", "return": "returned"}.get(event, "bound")
        line = frame.f_lineno if before is None or how == "returned" else before
        at = {**place(frame), "frame": number, "line": line or 0}
        if how == "returned":
            self._note(frame, at, "returned", [("", arg)])
        now = "bound" if how == "returned" else how
        self._note(frame, {**at, "line": before or line or 0}, now, list(frame.f_locals.items()))

    def _note(self, frame: FrameType, at: Json, how: str, named: list[tuple[str, Any]]) -> None:
        look = ValueLook(self._wanted, min(4000, self._left["looks"]))
        given = look.budget
        for name, value in named:
            if type(name) is str and not name.startswith("__"):
                for found in look.at(name, value):
                    self._add(frame, at, how, found)
        self._left["looks"] -= given - look.budget

    def _add(self, frame: FrameType, at: Json, how: str, found: TensorPath) -> None:
        key: tuple[Any, ...] = (at["file"], at["function"], at["frame"], how, found.name)
        if how == "returned":
            key = (*key, at["line"])
        entered = (*key[:3], "argument", found.name)
        if how == "bound" and entered in self._bindings:
            return
        binding = self._bindings.get(key)
        if binding is None and len(self._bindings) < BINDINGS:
            binding = self._bindings[key] = {
                "at": at,
                "how": how,
                "name": found.name,
                "paths": [],
                "carries": [],
                "after": CLOCK.calls,
                "none_before": (frame.f_code, found.name) in self._nones,
                "kind": self._trees.of(found.whole),
            }
        if (
            binding is not None
            and len(binding["paths"]) < 16
            and found.path not in binding["paths"]
        ):
            binding["paths"].append(found.path)
            binding["carries"].append(found.edge)

    def after(self, call: Call) -> None:
        """Record, after the call that freed the graph, everything that holds on to it."""
        if call.n == self._freed:
            for frame in user_frames(call.frame):
                at = place(frame)
                self._note(frame, at, "outlived", list(frame.f_locals.items()))

    def failed(self, call: Call, error: Exception) -> None:
        """Tell the path, if this is the failure that it was to lead to."""
        if says_reused(error) or says_changed(error):
            self._stop()
            met = {number_of(node) for node in walk(call.roots).nodes}
            if all(number in met for number, _ in self._wanted):
                self._emitter.emit({"t": "path", "bindings": list(self._bindings.values())})
