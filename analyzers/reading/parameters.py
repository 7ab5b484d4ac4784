"""Leaves: tensors that require a gradient and have no history, and where to find them."""

from __future__ import annotations

from analyzers.reading import shapes
from analyzers.reading.frames import InterpreterFrame
from analyzers.reading.graph import Lost
from analyzers.reading.machine import Machine
from analyzers.reading.torch_values import Layer, ParametersValue
from analyzers.reading.values import (
    AbstractTensor,
    AbstractValue,
    Const,
    Instance,
    Mapping,
    Sequence,
    Unknown,
)


def leaf_tensor(
    machine: Machine, frame: InterpreterFrame, lost: Lost | None = None
) -> AbstractTensor:
    """Return a leaf that requires a gradient; `lost`: where its data lost a graph."""
    tensor = AbstractTensor(machine.leaf_node(frame, lost))
    tensor.storage.leaf = tensor.node
    return tensor


def parameter(
    machine: Machine,
    args: list[AbstractValue],
    kwargs: dict[str, AbstractValue],
    frame: InterpreterFrame,
) -> AbstractValue:
    """Return `nn.Parameter(...)`: a leaf, unless `requires_grad` is False."""
    wanted = kwargs.get("requires_grad", args[1] if len(args) > 1 else Const(True))
    tensor = leaf_tensor(machine, frame)
    shapes.give(tensor, shapes.of(args[0]) if args else None)
    if isinstance(wanted, Const) and not wanted.value and tensor.node is not None:
        tensor.node.trainable = False
    return tensor


def is_cloned(value: AbstractValue) -> bool:
    """Return True for a clone of something not seen, or a part of it, that has a graph."""
    return isinstance(value, Unknown) and value.node is not None and value.node.op == "clone"


def leaves(
    value: AbstractValue, depth: int = 10, seen: set[int] | None = None
) -> list[AbstractTensor]:
    """Return the parameters that a value holds, each once."""
    seen = seen if seen is not None else set()
    if id(value) in seen or depth < 0:
        return []
    seen.add(id(value))
    if isinstance(value, ParametersValue):
        return leaves(value.source, depth, seen)
    if isinstance(value, AbstractTensor):
        return [value] if value.node is not None and value.node.leaf else []
    inner: list[AbstractValue] = []
    if isinstance(value, Layer):
        inner = [*([value.leaf] if value.leaf else []), *value.children, *value.attrs.values()]
    elif isinstance(value, Instance):
        inner = list(value.attrs.values())
    elif isinstance(value, Sequence):
        inner = value.items
    elif isinstance(value, Mapping):
        inner = [*value.items.values(), *value.rest]
    elif isinstance(value, Unknown) and isinstance(value.attrs.get("<leaf>"), AbstractTensor):
        inner = [value.attrs["<leaf>"]]
    return [leaf for part in inner for leaf in leaves(part, depth - 1, seen)]
