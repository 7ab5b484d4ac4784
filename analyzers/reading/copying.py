"""Copies: `copy.deepcopy`, which tensors with a history refuse, and `dataclasses.replace`."""

from __future__ import annotations

from analyzers.reading import backward_calls
from analyzers.reading.frames import InterpreterFrame
from analyzers.reading.machine import Machine
from analyzers.reading.parameters import leaf_tensor
from analyzers.reading.torch_values import Layer
from analyzers.reading.values import (
    OTHERS,
    AbstractTensor,
    AbstractValue,
    Instance,
    Mapping,
    Sequence,
    Unknown,
)

MESSAGE = "Only Tensors created explicitly by the user support the deepcopy protocol"
MAX_DEPTH = 6


def deep(
    machine: Machine, value: AbstractValue, frame: InterpreterFrame, depth: int = 0
) -> AbstractValue:
    """Return the deep copy of a value; parameters become parameters of their own."""
    if depth > MAX_DEPTH:
        return Unknown()

    def copied(inner: AbstractValue) -> AbstractValue:
        return deep(machine, inner, frame, depth + 1)

    if isinstance(value, AbstractTensor):
        return _tensor(machine, value, frame)
    if isinstance(value, Layer):
        leaf = leaf_tensor(machine, frame) if value.leaf is not None else None
        if leaf is not None and leaf.node is not None and value.leaf is not None:
            leaf.node.trainable = value.leaf.node is not None and value.leaf.node.trainable
        layer = Layer(value.kind, leaf, [copied(child) for child in value.children])
        layer.options = value.options
        layer.attrs = {name: copied(item) for name, item in value.attrs.items()}
        return layer
    if isinstance(value, Sequence):
        return Sequence([copied(item) for item in value.items], value.kind, value.open)
    if isinstance(value, Mapping):
        return Mapping({key: copied(item) for key, item in value.items.items()})
    if isinstance(value, Instance):
        twin = Instance(value.cls)
        twin.attrs = {name: copied(item) for name, item in value.attrs.items()}
        return twin
    return value


def changed(value: AbstractValue, changes: dict[str, AbstractValue]) -> AbstractValue:
    """Return the result of `dataclasses.replace`: a new instance with some fields changed.

    If a name is not known, any field may have changed.
    """
    if not isinstance(value, Instance):
        return Unknown()
    twin = Instance(value.cls)
    kept = {name: Unknown(name) for name in value.attrs} if OTHERS in changes else value.attrs
    twin.attrs = {**kept, **{name: item for name, item in changes.items() if name != OTHERS}}
    return twin


def _tensor(machine: Machine, tensor: AbstractTensor, frame: InterpreterFrame) -> AbstractValue:
    node = tensor.node
    if node is None:
        return AbstractTensor(scalar=tensor.scalar, lost=tensor.lost)
    if node.leaf:
        twin = leaf_tensor(machine, frame)
        if twin.node is not None:
            twin.node.trainable = node.trainable
        return twin
    if node.strong:
        backward_calls.refused(machine, tensor, "deepcopy", MESSAGE, frame)
    return AbstractTensor()
