"""Computes parts of a hand-written engine's graph again, with an input moved a little."""

from __future__ import annotations

import time
from collections.abc import Iterator, Mapping, Sequence
from types import CodeType
from typing import Any

from ..core.frames import is_user_class
from ..core.value_parts import attributes
from .operation_log import ComputedNode, OperationCall

STEP, SINGLE_STEP = 1e-5, 1e-2  # of an input, relative to it from 1 on; in single precision
CLOSE, SINGLE_CLOSE = 0.01, 0.1  # relative difference of what counts as equal
NOISE = 1e-6  # what rounding may make of zero
DEPTH = 2  # a list of pairs; an object that holds weights


class UnknownSlopeError(Exception):
    """Something cannot be computed again, or is not smooth here."""


class GraphSlopes:
    """The operations of a graph, by the attribute `value` of its nodes, until `until`."""

    def __init__(self, nodes: Sequence[ComputedNode], value: str, until: float) -> None:
        self.value = value
        self.nodes = nodes
        self._until = until
        self._clock = time.monotonic
        kinds = [getattr(node.before.get(value), "dtype", None) for node in nodes]
        self.single = any(kind is not None and 1 < kind.itemsize < 8 for kind in kinds)
        self.close = SINGLE_CLOSE if self.single else CLOSE

    def call_of(self, node: ComputedNode) -> OperationCall:
        """Return the call that computed a node from its parents' values: the innermost that reads
        them itself, where one does. Raise `UnknownSlopeError` if none is known."""
        reading = (call for call in node.calls if _reads(call.code, self.value))
        call = next(reading, next(iter(node.calls), None))
        if call is None:
            raise UnknownSlopeError
        return call

    def result(
        self,
        node: ComputedNode,
        given: Mapping[int, Any],
        under: Mapping[str, Mapping[int, Any]] | None = None,
    ) -> Any:
        """Return what a node's operation returns if these stand for instances, by their ids; others
        do `under` some arguments' names."""
        if self._clock() > self._until:
            raise UnknownSlopeError
        call, under = self.call_of(node), under or {}
        arguments = call.arguments.items()
        made = call.again({key: _exchanged(held, under.get(key, given)) for key, held in arguments})
        if type(made) is not type(node.instance) or not hasattr(made, self.value):
            raise UnknownSlopeError
        return made

    def numbers(
        self,
        node: ComputedNode,
        given: Mapping[int, Any],
        under: Mapping[str, Mapping[int, Any]] | None = None,
    ) -> Any:
        """Return the value of what `result` returns."""
        return getattr(self.result(node, given, under), self.value)

    def twin(self, node: ComputedNode, entry: tuple[int, ...] = (), by: float = 0.0) -> Any:
        """Return a copy of a node as it was before the backward, with an entry moved."""
        twin = object.__new__(type(node.instance))
        for name, held in attributes(node.instance):
            object.__setattr__(twin, name, held)
        value = node.before[self.value]
        if hasattr(value, "__array_interface__"):
            value = value.copy()
            if by:
                value[entry] += by
        elif by:
            value = value + by
        object.__setattr__(twin, self.value, value)
        return twin

    def step(self, node: ComputedNode, entry: tuple[int, ...]) -> float:
        """Return how far an entry is moved."""
        size = max(1.0, abs(number_at(node.before[self.value], entry)))
        return (SINGLE_STEP if self.single else STEP) * size

    def agree(self, one: float, other: float, scale: float = 1.0) -> bool:
        """Return True if two numbers are equal but for rounding and the step's width."""
        noise = NOISE * max(1.0, scale) * (1e3 if self.single else 1.0)
        return abs(one - other) <= self.close * max(abs(one), abs(other)) + noise

    def slope(self, weighted: Sequence[float], step: float) -> float:
        """Return the slope through values below, at and above a point. Raise `UnknownSlopeError` at
        a kink."""
        below, at, above = weighted
        left, right = (at - below) / step, (above - at) / step
        if not self.agree(left, right, abs(at)):
            raise UnknownSlopeError
        return (above - below) / (2 * step)


def number_at(value: Any, entry: tuple[int, ...]) -> float:
    """Return an entry of an array, or the number itself."""
    return float(value[entry]) if hasattr(value, "__array_interface__") else float(value)


def weighted(value: Any, weights: Any) -> float:
    """Return the sum of the numbers, each times its weight."""
    if not hasattr(value, "__array_interface__"):
        return float(value) * float(weights)
    if getattr(weights, "shape", None) != value.shape:
        raise UnknownSlopeError
    return float((value * weights).sum())


def is_nonzero(value: Any) -> bool:
    """Return True unless a number, or each in an array, is zero."""
    return bool(value.any()) if hasattr(value, "any") else bool(value)


def same(one: Any, other: Any) -> bool:
    """Return True if two values are equal but for rounding."""
    if getattr(one, "shape", ()) != getattr(other, "shape", ()):
        return False
    gap = abs(one - other)
    size = abs(one) + abs(other)
    largest, scale = (
        (gap.max(initial=0.0), size.max(initial=0.0)) if hasattr(gap, "max") else (gap, size)
    )
    return bool(largest <= 1e-6 * scale + 1e-12)


def entries_of(node: ComputedNode, value: str, gradient: str) -> list[tuple[int, ...]]:
    """Return which entries of a node's value to move: those of its largest gradient and value, and
    one in the middle."""
    held = node.before[value]
    if not hasattr(held, "__array_interface__"):
        return [()]
    if not held.size:
        return []
    given: Any = node.after.get(gradient)
    flat = [held.size // 2, int(abs(held).argmax())]
    if getattr(given, "shape", None) == held.shape:
        flat.insert(0, int(abs(given).argmax()))
    return [_unraveled(number, held.shape) for number in dict.fromkeys(flat)]


def _unraveled(number: int, shape: Sequence[int]) -> tuple[int, ...]:
    entry: list[int] = []
    for size in reversed(shape):
        number, rest = divmod(number, size)
        entry.insert(0, rest)
    return tuple(entry)


def _exchanged(held: Any, given: Mapping[int, Any], depth: int = DEPTH) -> Any:
    """Return a value with instances exchanged, also those in containers and objects."""
    if id(held) in given:
        return given[id(held)]
    if not depth:
        return held
    if type(held) in (list, tuple):
        parts = [_exchanged(part, given, depth - 1) for part in held]
        unchanged = all(new is old for new, old in zip(parts, held, strict=True))
        return held if unchanged else type(held)(parts)
    if type(held) is dict:
        return {key: _exchanged(part, given, depth - 1) for key, part in held.items()}
    if is_user_class(type(held)):
        changed = dict(_changed(held, given, depth))
        if changed:
            twin = object.__new__(type(held))
            for name, part in attributes(held):
                object.__setattr__(twin, name, changed.get(name, part))
            return twin
    return held


def _changed(held: Any, given: Mapping[int, Any], depth: int) -> Iterator[tuple[str, Any]]:
    for name, part in attributes(held):
        new = _exchanged(part, given, depth - 1)
        if new is not part:
            yield name, new


def _reads(code: CodeType, name: str) -> bool:
    """Return True if a function reads an attribute, other than in functions that it defines."""
    inner = (part for part in code.co_consts if isinstance(part, CodeType))
    own = [part for part in inner if part.co_name[:1] == "<" and part.co_name != "<lambda>"]
    return name in code.co_names or any(_reads(part, name) for part in own)
