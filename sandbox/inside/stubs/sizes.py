"""Sizes of synthesized values, decided by trial when a harness is searched around a script."""

from __future__ import annotations

import re
from typing import Any

import numpy as np

PREFIX = "data "  # of the paths under which a plan holds them
_shapes: dict[str, list[int]] = {}
_whole: dict[str, int] = {}
made: dict[str, list[int]] = {}  # the shape that each has in this run
_followed = False
_times = 1


def decide(shapes: dict[str, list[int]], whole: dict[str, int], times: int = 1) -> None:
    """Take what a plan says from now on, and remember where values come from. There are so many
    times the usual rows."""
    global _followed, _times
    _followed, _times = True, times
    made.clear()
    _shapes.clear()
    _shapes.update({path: size for path, size in shapes.items() if path.startswith(PREFIX)})
    _whole.clear()
    _whole.update({path: bound for path, bound in whole.items() if path.startswith(PREFIX)})


def path_of(name: str) -> str:
    """Return the path of what has this name; files that differ only by a number share one."""
    return PREFIX + re.sub(r"\d+", "", name)[:200]


def shape_of(name: str, usual: tuple[int, ...]) -> tuple[int, ...]:
    """Return the shape that was decided, else the usual one."""
    path = path_of(name)
    made[path] = list(_shapes.get(path, usual))
    return tuple(made[path])


def rows(usual: tuple[int, ...]) -> tuple[int, ...]:
    """Return the usual shape of a whole set of data, with as many rows as there are to be."""
    return (usual[0] * _times, *usual[1:])


def bound_of(name: str) -> int | None:
    """Return the bound that was decided for whole numbers of this name, or None."""
    return _whole.get(path_of(name))


class Sized(np.ndarray):
    """An array that knows under which path its size is decided."""

    _made_for: str | None = None

    def __array_finalize__(self, source: Any) -> None:
        self._made_for = getattr(source, "_made_for", None)

    def __reduce__(self) -> Any:
        return np.asarray(self).__reduce__()


def known(array: Any, name: str) -> Any:
    """Return the array, which knows where it comes from if that is asked."""
    if not _followed:
        return array
    marked = array.view(Sized)
    marked._made_for = path_of(name)
    return marked
