"""Find out whether a backward call adds to an attribute's value or replaces it.

The number, or the array, is exchanged for one that compares equal and records operations on it.
"""

from __future__ import annotations

import sys
from functools import cache
from typing import Any


@cache
def _number_class(kind: Any) -> Any:
    """Return a subclass of a number's class that records additions."""

    def add(self: Any, other: Any) -> Any:
        self.added = True
        return kind(self) + other

    def added_to(self: Any, other: Any) -> Any:
        self.added = True
        return other + kind(self)

    more = {"__add__": add, "__radd__": added_to, "added": False}
    return type(kind.__name__, (kind,), more)


class WatchedAttribute:
    """An attribute of an object, while something may add to it."""

    def __init__(self, owner: Any, name: str) -> None:
        self._owner = owner
        self._name = name
        self._own = getattr(owner, name)
        self._put: Any = None
        numpy = sys.modules.get("numpy")
        kind: Any = type(self._own)
        if kind is float or kind.__name__ == "float64":
            self._put = _number_class(kind)(self._own)
        elif numpy is not None and type(self._own) is numpy.ndarray and self._own.dtype.kind == "f":
            self._put = self._own.view(_array_class(numpy))
            self._put.then = self._own.copy()
        if self._put is not None:
            object.__setattr__(owner, name, self._put)

    def end(self) -> bool:
        """Put the script's own value back, if it is still there; whether something was added."""
        if self._put is not None and getattr(self._owner, self._name, None) is self._put:
            object.__setattr__(self._owner, self._name, self._own)
        return bool(getattr(self._put, "added", False))


@cache
def _array_class(numpy: Any) -> Any:
    """Return a subclass of an array's class that records additions; slices do not."""

    def ufunc(self: Any, function: Any, method: str, *inputs: Any, **more: Any) -> Any:
        marked = [x for x in inputs if getattr(x, "then", None) is not None]
        if function is numpy.add and marked and method == "__call__":
            marked[0].added |= numpy.array_equal(_plain(marked[0], numpy), marked[0].then)
        out = more.pop("out", ())
        if out:
            more["out"] = tuple(_plain(x, numpy) for x in out)
        result = getattr(function, method)(*(_plain(x, numpy) for x in inputs), **more)
        return out[0] if len(out) == 1 else result

    return type(
        "ndarray", (numpy.ndarray,), {"__array_ufunc__": ufunc, "then": None, "added": False}
    )


def _plain(value: Any, numpy: Any) -> Any:
    return value.view(numpy.ndarray) if hasattr(type(value), "then") else value
