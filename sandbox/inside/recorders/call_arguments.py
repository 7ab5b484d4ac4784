"""Reads what a call of torch was given: its name, its tensors, its numbers and arrays."""

from __future__ import annotations

import linecache
import re
import sys
from collections.abc import Iterable, Iterator, Sequence
from dataclasses import dataclass
from itertools import islice
from types import FrameType
from typing import Any

import torch

from ..core import frames
from ..core.frames import Json
from ..core.operands import numbers_added

DEPTH, MANY = 4, 512  # of lists in each other, and what is looked at in them


def call_name(func: Any) -> str:
    """Return the name by which a script calls it; a property's own name (`data`)."""
    name = getattr(func, "__name__", "") or ""
    if name in ("__get__", "__set__"):
        return str(getattr(getattr(func, "__self__", None), "__name__", name))
    return str(name)


def tensors_in(value: Any) -> list[torch.Tensor]:
    """Return the tensors in a value, in nested lists too, up to a limit."""
    found, pending, left = list[torch.Tensor](), [(value, DEPTH)], MANY
    while pending and left:
        left -= 1
        one, depth = pending.pop()
        if isinstance(one, torch.Tensor):
            found.append(one)
        elif isinstance(one, list | tuple) and depth:
            items = list.__iter__(one) if isinstance(one, list) else tuple.__iter__(one)
            pending += [(item, depth - 1) for item in islice(items, 64)][::-1]
    return found


@dataclass(frozen=True)
class NumberLine:
    """A line on which a number left torch: what is computed from it there is known by that."""

    file: str
    line: int


def line_of(at: Json | None) -> NumberLine:
    """Return the line of a place."""
    return NumberLine(at["file"], at["line"]) if at is not None else NumberLine("", 0)


def values_in(value: Any, depth: int = 2) -> Iterator[object]:
    """Yield what identifies a value outside torch: floats by value without the sign, which a
    script may turn, arrays by their memory."""
    if isinstance(value, float):
        yield abs(value)
    elif isinstance(value, NumberLine):
        yield value
    elif isinstance(value, list | tuple) and depth:
        for item in value[:64]:
            yield from values_in(item, depth - 1)
    elif hasattr(value, "__array_interface__"):
        yield ("array", value.__array_interface__["data"][0])


def is_graded(tensor: torch.Tensor) -> bool:
    """Return True for a tensor of a type that can have a gradient."""
    return tensor.is_floating_point() or tensor.is_complex()


def without_round(arguments: Iterable[Any]) -> tuple[Any, ...]:
    """Return them without whole and half numbers, which are mostly the script's own."""
    return tuple(a for a in arguments if not isinstance(a, float) or not (2 * a).is_integer())


def numbers_within(arguments: Sequence[Any]) -> tuple[float | NumberLine, ...]:
    """Return the numbers from which the script computes a plain number that it adds here, and the
    lines on which it computed those.
    """
    frame = frames.user_frame(sys._getframe(1))
    if frame is None or not any(isinstance(argument, float) for argument in arguments[:2]):
        return ()
    file, added = frames.place(frame)["file"], list(numbers_added(frame))
    lines = [NumberLine(file, line) for _, made in added for line in made]
    return (*(number for number, _ in added), *lines)


def line_matches(frame: FrameType | None, pattern: str) -> bool:
    """Return True if the line that a frame is at matches the pattern."""
    if frame is None:
        return False
    line = linecache.getline(frame.f_code.co_filename, frame.f_lineno)
    return re.search(pattern, line) is not None
