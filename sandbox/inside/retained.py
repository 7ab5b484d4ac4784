"""Finds the names that hand a graph from one walk of a line to the next, where walks retain it."""

from __future__ import annotations

from collections.abc import Iterable
from types import FrameType
from typing import Any

from .frames import Json
from .holders import Search
from .names import Name
from .stamps import number_of

TOLD = 32


class Retained:
    """What names held as a walk ended, by the numbers of their nodes: held themselves, they would
    live on. A name carries the graph if the next walk goes through its node, whether this walk did
    or not: a state is often brought up to date behind what the loss was made of."""

    def __init__(self) -> None:
        self._held: dict[Any, list[tuple[Name, int]]] = {}

    def look(self, line: Any, frame: FrameType | None) -> None:
        """Note what names hold as a walk of the line ends."""
        search = Search(lambda t: t.grad_fn is not None)
        self._held[line] = [(name, number_of(t.grad_fn)) for name, t in search.around(frame)]

    def carriers(self, line: Any, nodes: Iterable[Any]) -> list[Json]:
        """Which of the names that were noted last hold what this walk has gone through."""
        walked = {number_of(node) for node in nodes}
        held = [name for name, number in self._held.get(line, ()) if number in walked]
        return [name.record("freed") for name in held][:TOLD]
