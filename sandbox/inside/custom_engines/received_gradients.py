"""Which leaves a hand-written engine gave gradients to.

A gradient is a number, or an array of them, that an attribute of the leaf holds after a backward
call and did not hold before, whatever the attribute's name.
"""

from __future__ import annotations

from collections.abc import Hashable, Mapping
from itertools import islice
from types import FrameType
from typing import Any

from ..core.holders import ReferrerSearch
from ..core.parameters import ParameterRegistry, simpler
from ..core.value_parts import attributes

LEAVES = 4096


class ReceivedGradients:
    """Looks at leaves before a backward call; `named` returns those with other values after it."""

    def __init__(
        self,
        parameters: ParameterRegistry,
        kinds: tuple[type, ...],
        leaves: Mapping[int, Any],
        known: dict[int, int],
    ) -> None:
        """Store `leaves` by the number of their making; `known` keeps the ids of recorded ones."""
        self._parameters = parameters
        self._kinds = kinds
        self._leaves = dict(islice(sorted(leaves.items()), LEAVES))
        self._known = known
        self._numbered = {id(leaf): number for number, leaf in self._leaves.items()}
        self._before = {number: self.numbers(leaf) for number, leaf in self._leaves.items()}

    def named(self, frame: FrameType | None) -> dict[int, Any]:
        """Return the named leaves that got a gradient, by their ids."""
        changed = {n: leaf for n, leaf in self._leaves.items() if self.gradients(leaf)}
        self._name({n: leaf for n, leaf in changed.items() if n not in self._known}, frame)
        return {self._known[n]: leaf for n, leaf in changed.items() if n in self._known}

    def gradients(self, leaf: Any) -> set[str]:
        """Return the attributes in which the leaf holds other numbers than before the call."""
        number = self._numbered.get(id(leaf))
        if number is None:
            return set()
        before, now = self._before[number], self.numbers(leaf)
        return {name for name in now if now[name] != before.get(name)}

    def any_given(self) -> bool:
        """Return True if any leaf holds other numbers than before, and not just zeros."""
        return any(
            not _is_zero(self.numbers(leaf)[name])
            for leaf in self._leaves.values()
            for name in self.gradients(leaf)
        )

    def _name(self, strangers: Mapping[int, Any], frame: FrameType | None) -> None:
        """Number those that the script holds by a name; what it only passes on is no parameter."""
        wanted = {id(leaf) for leaf in strangers.values()}
        names: dict[int, str] = {}
        search = ReferrerSearch(
            lambda v: id(v) in wanted, budget=20_000, depth=7, kinds=self._kinds
        )
        for name, leaf in search.around(frame) if wanted else ():
            names[id(leaf)] = simpler(names.get(id(leaf)), name.path)
        for number, leaf in strangers.items():
            if id(leaf) in names:
                recorded = self._parameters.number(names[id(leaf)], self._shape(leaf))
                if recorded is not None:
                    self._known[number] = recorded

    def numbers(self, leaf: Any) -> dict[str, Hashable]:
        """Return the numbers in the leaf's attributes, so that two looks can be compared."""
        seen = {name: self._value(value) for name, value in attributes(leaf)}
        return {name: value for name, value in seen.items() if value is not None}

    def _value(self, value: Any, depth: int = 2) -> Hashable:
        if isinstance(value, float):
            return float(value)  # one of NumPy's compares with a tuple item by item
        if hasattr(value, "__array_interface__"):
            kind = getattr(getattr(value, "dtype", None), "kind", "")
            return (value.dtype.str, value.tobytes()) if kind == "f" else None
        if isinstance(value, list | tuple) and depth:
            return tuple(self._value(item, depth - 1) for item in value[:256])
        if isinstance(value, self._kinds) and depth:
            held = (self._value(part, depth - 1) for _, part in attributes(value))
            return tuple(part for part in held if part is not None)
        return None

    @staticmethod
    def _shape(leaf: Any) -> list[int]:
        """Return the shape of the largest array that it holds; `[]` if it holds plain numbers."""
        arrays = [value for _, value in attributes(leaf) if hasattr(value, "__array_interface__")]
        largest = max(arrays, key=lambda array: int(array.size), default=None)
        return [int(n) for n in largest.shape][:16] if largest is not None else []


def _is_zero(value: Hashable) -> bool:
    match value:
        case str(), bytes(content):
            return not any(content)
        case tuple():
            return all(map(_is_zero, value))
    return value == 0.0
