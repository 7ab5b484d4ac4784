"""What is known of the instances of hand-written engines: where each was made, and from which.

Those that an instance holds and that are older than it are its parents, whatever the attribute is
called.
"""

from __future__ import annotations

import inspect
import weakref
from collections.abc import Callable, Iterable, Iterator, Sequence
from contextlib import suppress
from dataclasses import dataclass
from types import FrameType, FunctionType
from typing import Any

from ..core.clock import CLOCK
from ..core.frames import Json, is_user_class
from ..core.value_parts import LIGHT, attributes
from .backward_functions import computes

LIMIT = 100_000
UNKNOWN = 8192  # values that are looked at at a time, until it is known what runs backward
DEPTH = 3  # an object for the operation, its list, a pair


@dataclass
class InstanceRecord:
    """What is known of one instance: when and where it was made, which call reached it."""

    number: int
    after: int
    at: Json | None
    op: str
    visited_by: int = 0
    root_of: int = 0
    result: bool = False  # whether a result of an operation's object is known
    recorded: tuple[Any, ...] = ()  # what a tape names with it; the tape may forget
    calls: tuple[Any, ...] = ()  # those that made it, innermost first, where they are noted
    reference: Any = None  # keeps its end noticed; strong where it cannot be weak


class Instances:
    """Every instance alive of the `kinds` that are observed, and of those `possible`."""

    def __init__(self) -> None:
        self.kinds: tuple[type, ...] = ()
        self.possible: set[type] = set()
        self._made: dict[int, InstanceRecord] = {}
        self.newest = 0
        self.settled = False  # once it is known what runs backward

    def add(self, instance: Any, at: Json | None, op: str) -> None:
        """Note one that is being made at a line, by a method of the user's or none (`""`)."""
        known = isinstance(instance, self.kinds) or type(instance) in self.possible
        if not known:  # a decorator replaced the class
            self.kinds = (*self.kinds, type(instance))
        self.newest += 2  # room for an operation before each
        made = InstanceRecord(self.newest, CLOCK.calls, at, op)
        key = id(instance)
        try:
            made.reference = weakref.ref(instance, lambda _: self._made.pop(key, None))
        except TypeError:
            made.reference = instance
        self._made[key] = made

    def of(self, instance: Any) -> InstanceRecord | None:
        """Return what is known of it."""
        return self._made.get(id(instance))

    def forget_calls(self) -> None:
        """Keep nothing any more of the calls that made them."""
        for made in list(self._made.values()):
            made.calls = ()

    def any_in(self, values: Iterable[Any]) -> bool:
        """Return True if there are any among these, or in lists among them."""
        lists = [value[:8] if isinstance(value, list | tuple) else [value] for value in values]
        return any(self.of(one) is not None for held in lists for one in held)

    def number(self, instance: Any) -> int:
        """Return the order of its making; 0 if that was not seen."""
        made = self.of(instance)
        return made.number if made is not None else 0

    def visited_by(self, instance: Any) -> int:
        """Return the first call that reached it; 0 if none has."""
        made = self.of(instance)
        return made.visited_by if made is not None else 0

    def parents(self, instance: Any) -> Iterator[Any]:
        """Yield older instances of its kind that it holds.

        It holds them itself, in pairs, in an operation's object, or as variables of a function it
        keeps; or a tape has recorded them with it.
        """
        made = self.of(instance)
        if made is not None and made.recorded:
            yield from made.recorded
        else:
            yield from self._older(instance, [value for _, value in attributes(instance)])

    def is_node(self, value: Any) -> bool:
        """Return True if it is of a kind, or found to be of one: made from another of its class."""
        if self.of(value) is None or isinstance(value, self.kinds):
            return self.of(value) is not None
        before = self.kinds
        self.kinds = (*before, type(value))
        if any(type(parent) is type(value) for parent in self.parents(value)):
            return True
        self.kinds = before
        return False

    def learn(self, tape: Sequence[Any]) -> None:
        """Read what was recorded in a list: in each entry the newest instance was made from the
        others."""
        for entry in tape if self.settled else tape[-UNKNOWN:]:
            if isinstance(entry, self.kinds):
                continue
            found = sorted(_instances(entry, self.of), key=self.number)
            made = self.of(found[-1]) if len(found) > 1 else None
            whole = self.number(entry)  # a record is made of what there is, and no model is
            if made is not None and not made.recorded and (not whole or whole > made.number):
                made.recorded = tuple(found[:-1])

    def leads_on(self, instance: Any, value: Any) -> bool:
        """Return True if what one of its attributes holds leads to a parent."""
        return any(True for _ in self._older(instance, [value]))

    def _older(self, instance: Any, values: list[Any]) -> Iterator[Any]:
        own = self.number(instance)
        seen = {id(instance)}
        pending = [(value, DEPTH) for value in values]
        while pending and (self.settled or len(seen) < UNKNOWN):
            value, depth = pending.pop()
            if type(value) in LIGHT or id(value) in seen:
                continue
            seen.add(id(value))
            if isinstance(value, self.kinds):
                if 0 < self.number(value) < own:
                    self._place(value, instance)
                    yield value
            elif depth:
                pending += [(part, depth - 1) for part in _parts(value, instance)]

    def _place(self, value: Any, holder: Any) -> None:
        """Place an operation's object (`Tanh()(x @ w)`) just before its oldest result.

        It may be older than what it was given then.
        """
        made, above = self.of(value), self.of(holder)
        if made is None or above is None or made.result:
            return
        if computes(type(holder)) and not computes(type(value)):
            made.number, made.result = above.number - 1, True

    def is_leaf(self, instance: Any) -> bool:
        """Return True if it was made from no other."""
        return not any(True for _ in self.parents(instance))

    def below(self, root: Any) -> Iterator[tuple[Any, list[Any]]]:
        """Yield the instance and everything it was made from, each once, with its parents."""
        seen, pending = {id(root)}, [root]
        while pending and len(seen) < LIMIT:
            instance = pending.pop()
            parents = list(self.parents(instance))
            yield instance, parents
            for parent in parents:
                if id(parent) not in seen:
                    seen.add(id(parent))
                    pending.append(parent)

    def line(self, instance: Any) -> tuple[str, int] | None:
        """Return the file and the line where it was made."""
        made = self.of(instance)
        return (made.at["file"], made.at["line"]) if made is not None and made.at else None

    def node(self, instance: Any) -> Json:
        """Return the instance as a node's record."""
        made = self.of(instance)
        if made is None:
            return {"op": type(instance).__qualname__}
        op = type(instance).__qualname__ + (f".{made.op}" if made.op else "")
        return {"op": op, "at": made.at, "made_after": made.after}


def _parts(value: Any, instance: Any) -> list[Any]:
    """Return what a value holds.

    Return nothing for a tape, which holds the instance among others; but a function that the
    instance keeps, or the operation that it came from, may name it too.
    """
    if isinstance(value, FunctionType):
        return list(_variables(value))
    held: list[Any] = []
    if isinstance(value, dict):
        held = list(value.values())
    elif isinstance(value, list | tuple | set | frozenset):
        held = list(value)
    elif is_user_class(type(value)):
        own = [part for _, part in attributes(value) if part is not instance]
        lists = [part for part in own if isinstance(part, list | set | dict)]
        return [] if any(_has(part, instance) for part in lists) else own
    lists = [part for part in held if isinstance(part, list | set | dict)]
    return [] if any(_has(part, instance) for part in [held, *lists]) else held


def makes_from(frame: FrameType, instances: Instances) -> bool:
    """Return True if a function makes something from the instances that it was given."""
    code = frame.f_code
    if code.co_name == "<module>":
        return False
    given = code.co_argcount + code.co_kwonlyargcount + bool(code.co_flags & inspect.CO_VARARGS)
    return instances.any_in(frame.f_locals.get(name) for name in code.co_varnames[:given])


def _instances(entry: Any, known: Callable[[Any], InstanceRecord | None]) -> list[Any]:
    """Return the known instances in an entry of a tape: in pairs, lists, or function variables."""
    found: dict[int, Any] = {}
    pending = [(entry, DEPTH)]
    while pending:
        value, depth = pending.pop()
        if type(value) in LIGHT:
            continue
        if known(value) is not None and value is not entry:
            found[id(value)] = value
        elif depth:
            pending += [(part, depth - 1) for part in _parts(value, None)]
    return list(found.values())


def _variables(function: FunctionType) -> Iterator[Any]:
    for cell in function.__closure__ or ():
        with suppress(ValueError):  # not bound yet
            yield cell.cell_contents


def _has(items: Any, instance: Any) -> bool:
    return any(item is instance for item in list(items))
