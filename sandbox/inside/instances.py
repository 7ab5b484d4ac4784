"""What is known of the instances of hand-written engines: where each was made, and from which.

Those that an instance holds and that are older than it are its parents, whatever the attribute is
called.
"""

from __future__ import annotations

import inspect
import weakref
from collections.abc import Iterator
from dataclasses import dataclass
from types import FunctionType
from typing import Any

from .frames import Json, is_user_class
from .parts import LIGHT, attributes
from .stamps import Clock

LIMIT = 100_000
DEPTH = 3  # an object for the operation, its list, a pair


@dataclass
class Made:
    """What is known of one instance: when and where it was made, who walked it."""

    number: int
    after: int
    at: Json | None
    op: str
    visited_by: int = 0
    root_of: int = 0
    reference: Any = None  # keeps its end noticed; strong where it cannot be weak


class Instances:
    """Every instance alive of the `kinds` that are observed."""

    def __init__(self) -> None:
        self.kinds: tuple[type, ...] = ()
        self._made: dict[int, Made] = {}
        self.newest = 0

    def add(self, instance: Any, at: Json | None, op: str) -> None:
        """Note one that is being made at a line, by a method of the user's or none (`""`)."""
        if not isinstance(instance, self.kinds):  # a decorator made the class anew
            self.kinds = (*self.kinds, type(instance))
        self.newest += 1
        made = Made(self.newest, Clock.visits, at, op)
        key = id(instance)
        try:
            made.reference = weakref.ref(instance, lambda _: self._made.pop(key, None))
        except TypeError:
            made.reference = instance
        self._made[key] = made

    def of(self, instance: Any) -> Made | None:
        """What is known of it."""
        return self._made.get(id(instance))

    def number(self, instance: Any) -> int:
        """The order of its making; 0 if that was not seen."""
        made = self.of(instance)
        return made.number if made is not None else 0

    def visited_by(self, instance: Any) -> int:
        """The first call that walked it; 0 if none has."""
        made = self.of(instance)
        return made.visited_by if made is not None else 0

    def parents(self, instance: Any) -> Iterator[Any]:
        """Instances of its kind that are older than it, and that it holds: itself, in pairs, in an
        object that stands for the operation, or as variables of a function it keeps."""
        return self._older(instance, [value for _, value in attributes(instance)])

    def leads_on(self, instance: Any, value: Any) -> bool:
        """Whether what one of its attributes holds leads to a parent."""
        return any(True for _ in self._older(instance, [value]))

    def _older(self, instance: Any, values: list[Any]) -> Iterator[Any]:
        own = self.number(instance)
        seen = {id(instance)}
        pending = [(value, DEPTH) for value in values]
        while pending:
            value, depth = pending.pop()
            if type(value) in LIGHT or id(value) in seen:
                continue
            seen.add(id(value))
            if isinstance(value, self.kinds):
                if 0 < self.number(value) < own:
                    yield value
            elif depth:
                pending += [(part, depth - 1) for part in _parts(value, instance)]

    def is_leaf(self, instance: Any) -> bool:
        """Whether it was made from no other."""
        return not any(True for _ in self.parents(instance))

    def below(self, root: Any) -> Iterator[Any]:
        """The instance and everything it was made from, each once."""
        seen, pending = {id(root)}, [root]
        while pending and len(seen) < LIMIT:
            instance = pending.pop()
            yield instance
            for parent in self.parents(instance):
                if id(parent) not in seen:
                    seen.add(id(parent))
                    pending.append(parent)

    def line(self, instance: Any) -> tuple[str, int] | None:
        """The file and the line where it was made."""
        made = self.of(instance)
        return (made.at["file"], made.at["line"]) if made is not None and made.at else None

    def node(self, instance: Any) -> Json:
        """The instance as records tell a node."""
        made = self.of(instance)
        if made is None:
            return {"op": type(instance).__qualname__}
        op = type(instance).__qualname__ + (f".{made.op}" if made.op else "")
        return {"op": op, "at": made.at, "made_after": made.after}


def _parts(value: Any, instance: Any) -> list[Any]:
    """What a value holds. Of what holds the instance itself, a tape of all there are, nothing;
    but a function that the instance keeps may name it too."""
    if isinstance(value, FunctionType):
        return list(inspect.getclosurevars(value).nonlocals.values())
    held: list[Any] = []
    if isinstance(value, dict):
        held = list(value.values())
    elif isinstance(value, list | tuple | set | frozenset):
        held = list(value)
    elif is_user_class(type(value)):
        held = [part for _, part in attributes(value)]
    lists = [part for part in held if isinstance(part, list | set | dict)]
    return [] if any(_has(part, instance) for part in [held, *lists]) else held


def _has(items: Any, instance: Any) -> bool:
    return any(item is instance for item in list(items))
