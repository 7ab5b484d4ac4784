"""Finds what keeps the graph of each iteration in a script without backward: an evaluation."""

from __future__ import annotations

import sys
from collections import defaultdict
from collections.abc import Container
from functools import wraps
from types import FrameType
from typing import Any

import torch
from torch.nn.modules.module import register_module_forward_pre_hook

from ..core.clock import CLOCK
from ..core.frames import OWNERS, USER, Json, activation, local_values, place, user_frames
from ..core.graph import Node, edges, op_name, walk
from ..core.holders import ReferrerSearch
from ..core.internal_errors import notify_safely
from ..core.stamps import Stamps
from ..core.value_names import Name

SUM, NODES = "AddBackward0", 4000
ADDED = 4  # times that a line has added to a graph that no backward reaches
BUDGET, DEPTH = 2000, 5  # of a search; logs lie deep: `model.layers.log.maps[layer][-1]`
_CALL = torch.nn.Module._call_impl.__code__

Line = tuple[str, int, int]  # with the number of the script's outermost activation
Key = tuple[Line, str, str]  # of the passes, the scope of a name, the name


def graphs() -> ReferrerSearch:
    """Return a search for whatever has a graph."""
    return ReferrerSearch(lambda t: t.grad_fn is not None, budget=BUDGET, depth=DEPTH)


class EvaluationGraphs:
    """Counts the calls of models that evaluate, line by line, until the first backward call.

    Some of them look for collections that hold more graphs than before. One that has let go of any
    was bounded, and is no finding.
    """

    def __init__(self, stamps: Stamps, looks: Container[int], grown: int) -> None:
        """Store `looks`, the calls of a line at which to look, and `grown`, how many must show
        growth."""
        self._stamps = stamps
        self._looks = looks
        self._grown = grown
        self._passes: dict[Line, int] = defaultdict(int)
        self._held: dict[Key, int] = {}
        self._sizes: dict[Key, list[tuple[int, int]]] = defaultdict(list)  # and at which call
        self._bounded: set[Key] = set()
        self._found: dict[Key, Json] = {}
        self._slips: list[str] = []
        self._hook = register_module_forward_pre_hook(self._passed)
        self._leave_to_compilers()

    def found(self) -> Json | None:
        """Return a record, at the end of a script without backward, of what gathered graphs, or
        None.

        It is a collection that has kept graph after graph, or a number to which one line has added
        again and again.
        """
        if CLOCK.calls:
            return None
        return next(iter(self._found.values()), None) or _summed(self._stamps)

    def _leave_to_compilers(self) -> None:
        """Remove the hooks if a compiler warns of them, which a script may have raised as an
        error."""
        compiler: Any = torch.compile

        @wraps(compiler)
        def compiling(*args: Any, **kwargs: Any) -> Any:
            self._hook.remove()
            return compiler(*args, **kwargs)

        torch.compile = compiling

    def _passed(self, module: torch.nn.Module, _: Any) -> None:
        """Count a call of any module, those of healthy scripts, too."""
        if torch.compiler.is_compiling():
            return
        if CLOCK.calls:
            self._hook.remove()
        if CLOCK.calls or module.training or not torch.is_grad_enabled():
            return
        notify_safely(self._count, sys._getframe(1), notes=self._slips)

    def _count(self, frame: FrameType) -> None:
        user = _called_outermost(frame)
        if user is None:
            return
        *_, first = user_frames(user)
        line = user.f_code.co_filename, user.f_lineno or 0, activation(first).number
        self._passes[line] += 1
        if self._passes[line] in self._looks and not _in_module(user):
            self._look(user, line)

    def _look(self, frame: FrameType, line: Line) -> None:
        kept: dict[Key, list[tuple[Name, Any]]] = defaultdict(list)
        for name, tensor in graphs().around(frame):
            if name.containers:
                kept[line, name.scope, name.path.partition("[")[0]].append((name, tensor))
        for key, count in self._held.items():
            if key[0] == line and len(kept.get(key, ())) < count:
                self._bounded.add(key)
                self._found.pop(key, None)
        for key, found in kept.items():
            if key in self._bounded or len(found) == self._held.get(key):
                continue
            self._held[key] = len(found)
            sizes = self._sizes[key]
            size = len(walk([(t.grad_fn, 0) for _, t in found], NODES).nodes)
            sizes.append((size, self._passes[line]))
            if len(sizes) >= self._grown:
                held = found[-1][0].record("now")
                holders = [{**held, "path": key[2]}, held]
                self._found[key] = {"at": place(frame), "holders": holders, **measured(sizes)}


def measured(sizes: list[tuple[int, int]]) -> Json:
    """Return the fields of a record for sizes, each with the iteration of its look."""
    return {
        "figures": [float(size) for size, _ in sizes],
        "iterations": [iteration for _, iteration in sizes],
    }


def _called_outermost(frame: FrameType | None) -> FrameType | None:
    """Return the user's frame that calls a module; None if another module's own code calls it."""
    calls = 0
    while frame is not None and OWNERS[frame.f_code.co_filename] is not USER:
        calls += frame.f_code is _CALL
        frame = frame.f_back
    return frame if calls == 1 else None


def _in_module(frame: FrameType) -> bool:
    """Return True if a module's own code runs: what that gathers, it gives to others."""
    return any(
        isinstance(value, torch.nn.Module)
        for user in user_frames(frame)
        for name, value in local_values(user)
        if name == "self"
    )


def _summed(stamps: Stamps) -> Json | None:
    """Return a record of a number to which one line has added what was computed without it, or
    None.

    An evaluation that sums up its losses does so.
    """
    for name, tensor in graphs().around(None):
        at = stamps.place(tensor.grad_fn)
        if tensor.dim() or at is None:
            continue
        if _added(stamps, tensor.grad_fn, at) >= ADDED:
            size = len(walk([(tensor.grad_fn, 0)], NODES).nodes)
            return {"at": at, "holders": [name.record("now")], "figures": [float(size)]}
    return None


def _added(stamps: Stamps, total: Node, at: Json) -> int:
    """Return how often the line has added to a sum, if each time something else was added."""
    times = 0
    while times < ADDED:
        below = [node for node, _ in edges(total)]
        before = next((n for n in below if op_name(n) == SUM and stamps.place(n) == at), None)
        others = [node for node in below if node is not before]
        if before is None or before in walk([(node, 0) for node in others], NODES).nodes:
            return times + (op_name(total) == SUM)
        total, times = before, times + 1
    return times
