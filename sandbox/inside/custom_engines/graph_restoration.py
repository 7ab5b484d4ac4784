"""References for hand-written engines: a graph is restored as it was before a backward call."""

from __future__ import annotations

from collections.abc import Callable, Collection, Iterable, Iterator
from functools import partial
from typing import Any

from ..core.frames import is_user_class
from ..core.value_parts import LIGHT, attributes
from .instances import Instances

DEPTH = 2  # a list of pairs; an object for the operation, with what it saved


class GraphRestoration:
    """What some instances hold before a backward call; `back` undoes the call's changes."""

    def __init__(self, instances: Iterable[Any], kinds: tuple[type, ...]) -> None:
        self._kinds = kinds
        self._noted: dict[int, tuple[Any, dict[str, Any]]] = {}
        self._within: dict[tuple[int, str], list[Callable[[], None]]] = {}
        for instance in instances:
            self._note(instance)

    def _note(self, instance: Any) -> None:
        held = dict(attributes(instance))
        self._noted[id(instance)] = instance, held
        for name, value in held.items():
            self._within[id(instance), name] = list(_undoings(value, self._kinds, DEPTH))

    def back(self, kept: Callable[[Any], Collection[str]]) -> None:
        """Put everything back but the attributes of an instance that are `kept`."""
        for instance, held in self._noted.values():
            spared = kept(instance)
            for name in dict(attributes(instance)).keys() - held.keys() - set(spared):
                if name in getattr(instance, "__dict__", {}):
                    object.__delattr__(instance, name)
                else:  # a slot that held None
                    object.__setattr__(instance, name, None)
            for name, value in held.items():
                if name not in spared:
                    object.__setattr__(instance, name, value)
                    for undo in self._within[id(instance), name]:
                        undo()


def _undoings(value: Any, kinds: tuple[type, ...], depth: int) -> Iterator[Callable[[], None]]:
    """Yield functions that restore the insides of a value; other instances see to their own."""
    if type(value) in LIGHT or isinstance(value, kinds):
        return
    parts: Iterable[Any] = ()
    if isinstance(value, list | dict | set):
        yield partial(_refill, value, value.copy())
        parts = value.values() if isinstance(value, dict) else value
    elif isinstance(value, tuple):
        parts = value
    elif hasattr(value, "__array_interface__") and callable(getattr(value, "copy", None)):
        if value.flags.writeable:
            yield partial(value.__setitem__, ..., value.copy())
    elif is_user_class(type(value)):
        held = dict(attributes(value))
        yield partial(_reset, value, held)
        parts = held.values()
    if depth:
        for part in list(parts):
            yield from _undoings(part, kinds, depth - 1)


def _refill(container: Any, content: Any) -> None:
    container.clear()
    (container.extend if isinstance(container, list) else container.update)(content)


def _reset(thing: Any, held: dict[str, Any]) -> None:
    for name, value in held.items():
        object.__setattr__(thing, name, value)


def cut_off(past: Iterable[Any], leaves: Collection[Any], instances: Instances) -> None:
    """Turn nodes that earlier calls reached into leaves, which pass nothing on.

    Where they hold others, they get what a real leaf of their class holds there, or nothing.
    """
    for node in past:
        alike = next((dict(attributes(leaf)) for leaf in leaves if type(leaf) is type(node)), {})
        for name, value in dict(attributes(node)).items():
            if instances.leads_on(node, value):
                empty = type(value)() if isinstance(value, list | tuple | dict | set) else None
                object.__setattr__(node, name, alike.get(name, empty))
