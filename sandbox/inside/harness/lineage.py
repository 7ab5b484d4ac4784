"""Where a tensor comes from: what was synthesized, or what was computed from it."""

from __future__ import annotations

from collections.abc import Iterator
from typing import Any

import torch

from ..stubs import sizes
from ..stubs.objects import State
from .context import CurrentHarness

_TURNING = ("transpose", "permute", "swapaxes", "swapdims", "t")
MOST = 8  # sources that are remembered


def made_for(value: Any) -> str | None:
    """Return the path that a synthesized tensor was made for, or None."""
    return getattr(value, "_made_for", None) if isinstance(value, torch.Tensor) else None


def made_path(value: Any) -> str | None:
    """Return the path of any synthesized value, or None."""
    path = made_for(value) or getattr(value, "__dict__", {}).get("_path")
    return path if isinstance(path, str) else None


def mark(tensor: torch.Tensor, array: Any) -> torch.Tensor:
    """Return the tensor that was made of an array, marked with the array's source."""
    if path := getattr(array, "_made_for", None):
        tensor._came_of = path  # type: ignore[attr-defined]
    return tensor


def traced(value: Any, wanted: list[int]) -> tuple[str, list[int]] | None:
    """Return the path of synthesized data that a tensor is a part of, and the shape that it needs.

    The tensor is all of the data, one item, some of the rows, or one of several. If its axes were
    permuted, the shape is that before.
    """
    path = made_for(value) or (came_of(value) if isinstance(value, torch.Tensor) else None)
    index = getattr(value, "_taken_by", None)
    if path is None:
        return None
    if index is not None and (shape := _before(index, shape_of(path), wanted)):
        return path, shape
    axes = getattr(value, "_axes", None)
    if axes is None and not path.startswith(sizes.PREFIX):
        return None
    whole, part = shape_of(path), list(map(int, value.shape))
    if axes is not None:
        wanted, part = _before_turning(wanted, axes), _before_turning(part, axes)
    if not path.startswith(sizes.PREFIX):
        return (path, wanted) if part == whole else None
    more = len(part) - len(whole)
    if more < 0 and part == whole[-more:]:
        return path, [*whole[:-more], *wanted]
    if more >= 0 and part[more + 1 :] == whole[1:]:
        return path, [*whole[:1], *wanted[1:]] if more == 0 else wanted[more:]
    return None


def _before_turning(shape: list[int], axes: tuple[int, ...]) -> list[int]:
    """Return the shape of what became this one by taking its axes in this order."""
    if len(shape) != len(axes):
        return shape
    return [shape[axes.index(n)] for n in range(len(axes))]


def turned(result: Any, name: str, args: Any) -> Any:
    """Return the result of a function that permutes a tensor's axes, marked with the order."""
    given = args[0] if args else None
    if name not in _TURNING or not isinstance(given, torch.Tensor):
        return result
    count = given.dim()
    axes, order = list(range(count)), [n % count for n in ints(args[1:])] if count else []
    if name == "permute" and len(order) == count:
        axes = order
    elif name == "t" and count == 2:
        axes.reverse()
    elif len(order) == 2:
        a, b = order
        axes[a], axes[b] = b, a
    else:
        return result  # named axes show it
    before = getattr(given, "_axes", None) or tuple(range(count))
    result._axes = tuple(before[n] for n in axes)
    return result


def ints(value: Any) -> Iterator[int]:
    """Yield the whole numbers in a value, in nested lists, too."""
    if isinstance(value, int):
        yield value
    elif isinstance(value, list | tuple):
        for one in value:
            yield from ints(one)


def _is_plain(index: Any) -> bool:
    """Return True if an index has only numbers and slices."""
    parts = index if isinstance(index, tuple) else (index,)
    return all(isinstance(part, int | slice) for part in parts)


def _before(index: Any, held: list[int], wanted: list[int]) -> list[int] | None:
    """Return the shape of a tensor of which the index takes a part that is shaped as wanted, or
    None.

    An axis of which it takes some by number or slice keeps its size.
    """
    left, shape = list(wanted), list[int]()
    for axis, part in enumerate(index if isinstance(index, tuple) else (index,)):
        size = held[axis] if axis < len(held) else held[-1] if held else 1
        if isinstance(part, slice) and left:
            taken = left.pop(0)
            shape.append(taken if part == slice(None) else size)
        elif isinstance(part, int) and not isinstance(part, bool):
            shape.append(size)
        else:
            return None
    return [*shape, *left]


def origin(value: torch.Tensor) -> str | None:
    """Return the path, also for a tensor that has its numbers in another shape."""
    return made_for(value) or getattr(value, "_flat_of", None)


def came_of(value: torch.Tensor) -> str | None:
    """Return the path of a synthesized tensor that something was computed from, or None."""
    found: str | None = getattr(value, "_came_of", None)
    return found


def sources(value: torch.Tensor) -> tuple[str, ...]:
    """Return the paths of all synthesized tensors that something was computed from, if known."""
    path = made_for(value) or came_of(value)
    found: tuple[str, ...] = getattr(value, "_sources", ())
    return found or ((path,) if path else ())


def remembered(result: Any, args: Any, *, taken: bool = False) -> Any:
    """Return the result of a function, marked with its source if it has the same shape.

    With `taken`, mark it with the index.
    """
    if isinstance(result, torch.Tensor) and made_for(result) is None:
        if len(args) and isinstance(args[0], list | tuple):
            result._made_of = [t for t in args[0] if isinstance(t, torch.Tensor)]  # type: ignore[attr-defined]
        if not isinstance(args[0] if args else None, torch.Tensor | list | tuple):
            mark(result, args[0] if args else None)
        given = list(flat(args))
        result._sources = tuple(dict.fromkeys(p for t in given for p in sources(t)))[:MOST]  # type: ignore[attr-defined]
        for tensor in given:
            if tensor.shape == result.shape and (axes := getattr(tensor, "_axes", None)):
                result._axes = axes  # type: ignore[attr-defined]
            if (path := made_for(tensor)) and tensor.shape == result.shape:
                result._made_for = path  # type: ignore[attr-defined]
                break
            if path and tensor.numel() == result.numel():
                result._flat_of = path  # type: ignore[attr-defined]
            if first := path or came_of(tensor):
                result._came_of = first  # type: ignore[attr-defined]
        if taken and made_for(args[0]) and _is_plain(args[1]):
            result._taken_by = args[1]  # type: ignore[attr-defined]
    elif isinstance(result, tuple) or type(result).__name__ == "tuple_iterator":  # its parts
        parts = tuple(result)
        first = next(filter(None, (made_for(t) or came_of(t) for t in flat(args))), None)
        for part in parts:
            if isinstance(part, torch.Tensor) and first:
                part._came_of = first  # type: ignore[attr-defined]
        return result if isinstance(result, tuple) else iter(parts)
    return result


def follow_variables() -> None:
    """Mark a `Variable` with its source, too."""
    kind: Any = type(torch.autograd.Variable)

    def call(cls: Any, *args: Any, **kwargs: Any) -> Any:
        return remembered(type.__call__(cls, *args, **kwargs), args)

    kind.__call__ = call


def shape_of(path: str) -> list[int]:
    """Return the shape of what was synthesized for a path."""
    if path.startswith(sizes.PREFIX):
        return sizes.made.get(path, [])
    return CurrentHarness.harness.tensors.shape_of(path)


def flat(value: Any, depth: int = 3) -> Iterator[torch.Tensor]:
    if isinstance(value, torch.Tensor):
        yield value
    elif isinstance(value, list | tuple) and depth:
        for one in value[:16]:
            yield from flat(one, depth - 1)
    elif isinstance(value, State):
        yield value._as_tensor()
