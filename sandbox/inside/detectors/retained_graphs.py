"""Finds the names that carry a retained graph from one backward call of a line to the next."""

from __future__ import annotations

from collections.abc import Iterable
from types import FrameType
from typing import Any

from ..core.clock import number_of
from ..core.engine import Call
from ..core.frames import Json
from ..core.holders import ReferrerSearch
from ..core.value_names import Name

LISTED = 32


class RetainedGraphs:
    """What names held as a backward call ended, by the numbers of their nodes.

    References would keep the nodes alive. A name carries the graph if the next backward call
    reaches its node, whether this call did or not: a state is often updated after the loss was
    computed.
    """

    def __init__(self) -> None:
        self._held: dict[Any, list[tuple[Name, int]]] = {}

    def look(self, line: Any, frame: FrameType | None) -> None:
        """Record what names hold as a backward call of the line ends."""
        search = ReferrerSearch(lambda t: t.grad_fn is not None)
        self._held[line] = [(name, number_of(t.grad_fn)) for name, t in search.around(frame)]

    def carriers(self, line: Any, roots: Iterable[tuple[Any, int]]) -> list[Json]:
        """Return the recorded names whose nodes this call reaches first of all that they hold."""
        held = self._held.get(line, ())
        met = _first_met([node for node, _ in roots], {number for _, number in held})
        return [name.record("freed") for name, number in held if number in met][:LISTED]


def _first_met(roots: list[Any], numbers: set[int]) -> set[int]:
    """Return the nodes of these numbers that a path from the roots reaches past no other one."""
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
    """Return names that hold, now, a tensor of an earlier iteration or with such a past."""
    nodes = set(call.walk.nodes)
    search = ReferrerSearch(lambda t: t.grad_fn in nodes and t.grad_fn is not None)
    held = [name.record("now") for name, _ in search.around(call.frame)]
    roots = set(call.names)
    return [holder for holder in held if holder["path"] not in roots]
