"""Finds the names that hand a graph from one walk of a line to the next, where walks retain it."""

from __future__ import annotations

from collections.abc import Iterable
from types import FrameType
from typing import Any

from .engine import Call
from .frames import Json
from .holders import Search
from .names import Name
from .stamps import number_of

TOLD = 32


class Retained:
    """What names held as a walk ended, by the numbers of their nodes: held themselves, they would
    live on. A name carries the graph if the next walk comes to its node, whether this walk did or
    not: a state is often brought up to date behind what the loss was made of."""

    def __init__(self) -> None:
        self._held: dict[Any, list[tuple[Name, int]]] = {}

    def look(self, line: Any, frame: FrameType | None) -> None:
        """Note what names hold as a walk of the line ends."""
        search = Search(lambda t: t.grad_fn is not None)
        self._held[line] = [(name, number_of(t.grad_fn)) for name, t in search.around(frame)]

    def carriers(self, line: Any, roots: Iterable[tuple[Any, int]]) -> list[Json]:
        """Which of the names that were noted last hold what this walk comes to first of all that
        they hold."""
        held = self._held.get(line, ())
        met = _first_met([node for node, _ in roots], {number for _, number in held})
        return [name.record("freed") for name, number in held if number in met][:TOLD]


def _first_met(roots: list[Any], numbers: set[int]) -> set[int]:
    """The nodes of these numbers to which a way leads from the roots that passes no other."""
    met: set[int] = set()
    seen: set[Any] = set()
    pending = [*roots]
    while pending:
        node = pending.pop()
        if node is None or node in seen:
            continue
        seen.add(node)
        if (number := number_of(node)) in numbers:
            met.add(number)
        else:
            pending += [below for below, _ in node.next_functions]
    return met


def old_names(call: Call) -> list[Json]:
    """Names that hold, now, a tensor made in an earlier pass or with such a past."""
    nodes = set(call.walk.nodes)
    search = Search(lambda t: t.grad_fn in nodes and t.grad_fn is not None)
    held = [name.record("now") for name, _ in search.around(call.frame)]
    roots = set(call.names)
    return [holder for holder in held if holder["path"] not in roots]
