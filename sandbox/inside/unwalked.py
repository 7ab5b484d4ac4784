"""Finds what keeps the graph of each pass in a script that walks none: an evaluation."""

from __future__ import annotations

import sys
from collections import defaultdict
from collections.abc import Container
from types import FrameType
from typing import Any

import torch
from torch.nn.modules.module import register_module_forward_pre_hook

from .frames import Json, local_values, place, user_frame, user_frames
from .graph import Node, edges, op_name, walk
from .holders import Search
from .names import Name
from .stamps import Clock, Stamps

SUM, NODES = "AddBackward0", 4000
ADDED = 4  # times that a line has added to a graph which nothing walks
BUDGET, DEPTH = 2000, 5  # of a search

Key = tuple[str, int, str, str]  # the line of the passes, the scope of a name, the name


class Unwalked:
    """Counts the passes of models that evaluate, line by line, for as long as nothing has been
    walked, and looks at some for collections that hold more graphs than at the look before."""

    def __init__(self, stamps: Stamps, looks: Container[int], grown: int) -> None:
        """`looks`: passes of one line at which to look; `grown`: how many of them show growth."""
        self._stamps = stamps
        self._looks = looks
        self._grown = grown
        self._passes: dict[tuple[str, int], int] = defaultdict(int)
        self._sizes: dict[Key, list[int]] = defaultdict(list)
        self._told: Json | None = None
        self._hook = register_module_forward_pre_hook(self._passed)

    def found(self) -> Json | None:
        """What to tell, at the end of a script that has walked nothing: a collection that has kept
        graph after graph, or a number to which one line has added again and again."""
        if Clock.visits:
            return None
        return self._told or _summed(self._stamps)

    def _passed(self, module: torch.nn.Module, _: Any) -> None:
        if Clock.visits or self._told is not None:
            self._hook.remove()
            return
        frame = user_frame(sys._getframe())
        if module.training or frame is None:
            return
        line = frame.f_code.co_filename, frame.f_lineno
        self._passes[line] += 1
        if self._passes[line] in self._looks and not _in_module(frame):
            self._look(frame, line)

    def _look(self, frame: FrameType, line: tuple[str, int]) -> None:
        kept: dict[Key, list[Name]] = defaultdict(list)
        search = Search(lambda t: t.grad_fn is not None, budget=BUDGET, depth=DEPTH)
        for name, _ in search.around(frame):
            if name.containers:
                kept[(*line, name.scope, name.path.partition("[")[0])].append(name)
        for key in self._sizes.keys() - kept.keys():
            del self._sizes[key]
        for key, found in kept.items():
            sizes = self._sizes[key]
            if len(found) <= (sizes[-1] if sizes else 0):
                sizes.clear()
            sizes.append(len(found))
            if len(sizes) >= self._grown:
                held = found[-1].record("now")
                holders = [{**held, "path": key[3]}, held]
                figures = [float(size) for size in sizes]
                self._told = {"at": place(frame), "holders": holders, "figures": figures}


def _in_module(frame: FrameType) -> bool:
    """Whether a module's own code runs: what that gathers, it gives to others."""
    return any(
        isinstance(value, torch.nn.Module)
        for user in user_frames(frame)
        for name, value in local_values(user)
        if name == "self"
    )


def _summed(stamps: Stamps) -> Json | None:
    """A number to which one line has added again and again what was computed without it: an
    evaluation that sums up its losses."""
    search = Search(lambda t: t.grad_fn is not None, budget=BUDGET, depth=DEPTH)
    for name, tensor in search.around(None):
        at = stamps.place(tensor.grad_fn)
        if tensor.dim() or at is None:
            continue
        if _added(stamps, tensor.grad_fn, at) >= ADDED:
            size = len(walk([(tensor.grad_fn, 0)], NODES).nodes)
            return {"at": at, "holders": [name.record("now")], "figures": [float(size)]}
    return None


def _added(stamps: Stamps, total: Node, at: Json) -> int:
    """How often the line has added to a sum, as far as each time something else was added."""
    times = 0
    while times < ADDED:
        below = [node for node, _ in edges(total)]
        before = next((n for n in below if op_name(n) == SUM and stamps.place(n) == at), None)
        others = [node for node in below if node is not before]
        if before is None or before in walk([(node, 0) for node in others], NODES).nodes:
            return times + (op_name(total) == SUM)
        total, times = before, times + 1
    return times
