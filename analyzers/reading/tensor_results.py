"""Make the results of a tensor's methods."""

from __future__ import annotations

from analyzers.reading.containers import part_of
from analyzers.reading.frames import InterpreterFrame
from analyzers.reading.graph import Lost
from analyzers.reading.machine import Machine
from analyzers.reading.values import (
    AbstractTensor,
    AbstractValue,
    Const,
    Sequence,
    Unknown,
)
from analyzers.source import ops


def shaped(
    machine: Machine,
    name: str,
    result: AbstractValue,
    args: list[AbstractValue],
    kwargs: dict[str, AbstractValue],
    frame: InterpreterFrame,
) -> AbstractValue:
    """Return the result as several tensors for operations that return several."""
    if name in ops.MULTI_VIEWS and isinstance(result, AbstractTensor):
        parts: list[AbstractValue] = []
        for _ in range(_count(args, kwargs)):
            part = part_of(machine, result, frame, name)
            if isinstance(part, AbstractTensor):
                part.siblings = True
            parts.append(part)
        return Sequence(parts, "tuple", open_=True)
    if name in ("max", "min", "median", "sort", "topk", "mode", "kthvalue") and (args or kwargs):
        if not (args and isinstance(args[0], AbstractTensor)):
            return Sequence([part_of(machine, result, frame, name), Unknown(data=True)], "tuple")
    return result


def _count(args: list[AbstractValue], kwargs: dict[str, AbstractValue]) -> int:
    number = args[-1].value if args and isinstance(args[-1], Const) else 2
    return number if isinstance(number, int) and 1 < number <= 8 else 3


def reduced(
    name: str, args: list[AbstractValue], kwargs: dict[str, AbstractValue], tensor: AbstractValue
) -> bool | None:
    """Return whether the result has one element, or None if it is not known.

    It is known for full reductions, for shapes that stay, and for several tensors joined.
    """
    if name in ops.REDUCTIONS:
        plain = not args and not ({"dim", "axis"} & set(kwargs))
        return True if plain else None
    if name == "stack" and isinstance(tensor, Sequence) and len(tensor.items) > 1:
        return False
    if name in ("clone", "neg", "abs", "exp", "log", "float", "double", "to", "sqrt", "pow"):
        return tensor.scalar if isinstance(tensor, AbstractTensor) else None
    return None


def end(value: AbstractTensor | Unknown, lost: Lost | None) -> None:
    """Record `detach_` of the value, and of what a loop took it from.

    No view supports `detach_`, so that is a collection, and the loop reaches each of its items.
    """
    for cut in (value, value.whole):
        if cut is not None:
            cut.node, cut.lost = None, lost  # type: ignore[misc]


def lost_at(tensor: AbstractTensor, op: str, frame: InterpreterFrame) -> Lost | None:
    """Return where the graph ends for an operation whose result has none, or None."""
    node = tensor.node
    return Lost(op, frame.place(), (node,)) if node is not None else tensor.lost
