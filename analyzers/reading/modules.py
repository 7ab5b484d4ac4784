"""`torch.nn`: layers, containers of layers, and the parameters of anything."""

from __future__ import annotations

from functools import partial

from analyzers.reading import hooks, inplace_writes, operators, shapes, value_graphs
from analyzers.reading.containers import part_of
from analyzers.reading.dispatch import callable_kind
from analyzers.reading.frames import InterpreterFrame
from analyzers.reading.machine import Machine
from analyzers.reading.parameters import leaf_tensor, parameter
from analyzers.reading.torch_values import Layer
from analyzers.reading.values import (
    NONE,
    AbstractTensor,
    AbstractValue,
    Const,
    Mapping,
    Sequence,
    Unknown,
)
from analyzers.source.ops import CONTAINERS, LOSSES, WEIGHTLESS

PAIRS = frozenset({"GRU", "RNN", "LSTMCell", "MultiheadAttention"})
# The weight is needed again only to pass a gradient on to the input.
WEIGHT_FOR_INPUT = (
    "Linear",
    "Conv",
    "LSTM",
    "GRU",
    "RNN",
    "Bilinear",
    "LayerNorm",
    "BatchNorm",
    "GroupNorm",
    "InstanceNorm",
)
# The input is needed to give the weight its gradient.
INPUT_FOR_WEIGHT = WEIGHT_FOR_INPUT


def make(
    machine: Machine,
    kind: str,
    args: list[AbstractValue],
    kwargs: dict[str, AbstractValue],
    frame: InterpreterFrame,
) -> AbstractValue:
    """Return the result of constructing `torch.nn.<kind>`."""
    if kind == "Parameter":
        return parameter(machine, args, kwargs, frame)
    if kind == "ModuleList" or kind == "ParameterList":
        return Sequence(_children(args))
    if kind in ("ModuleDict", "ParameterDict") and args and isinstance(args[0], Mapping):
        return Mapping(dict(args[0].items))
    if kind == "DataParallel" and args:
        return args[0]
    children = _children(args) if kind in CONTAINERS else []
    bare = kind in WEIGHTLESS or kind in CONTAINERS or kind == "DataParallel"
    leaf = None if bare else leaf_tensor(machine, frame)
    layer = Layer(kind, leaf, children)
    layer.options = kwargs
    if kind == "Linear" and len(args) > 1:
        layer.options = {**kwargs, "out_features": args[1]}
    return layer


def _children(args: list[AbstractValue]) -> list[AbstractValue]:
    found: list[AbstractValue] = []
    for arg in args:
        if isinstance(arg, Sequence):
            found.extend(arg.items)
        elif isinstance(arg, Mapping):
            found.extend([*arg.items.values(), *arg.rest])
        else:
            found.append(arg)
    return found


@callable_kind(Layer)
def call_layer(
    machine: Machine,
    layer: Layer,
    args: list[AbstractValue],
    kwargs: dict[str, AbstractValue],
    frame: InterpreterFrame,
) -> AbstractValue:
    """Apply a layer to its inputs."""
    made = partial(_apply, machine, layer, args, kwargs, frame)
    return hooks.around(machine, layer, args, frame, made)


def _apply(
    machine: Machine,
    layer: Layer,
    args: list[AbstractValue],
    kwargs: dict[str, AbstractValue],
    frame: InterpreterFrame,
) -> AbstractValue:
    values = [*args, *kwargs.values()]
    kind = layer.kind
    if kind == "Sequential":
        value = args[0] if args else Unknown()
        for child in layer.children:
            value = machine.call(child, [value], {}, frame)
        return value
    name = WEIGHTLESS.get(kind)
    if name is not None and name in LOSSES:
        return operators.operate(machine, name, values, frame, scalar=reduced(layer.options))
    if name is not None:
        return _activation(machine, layer, name, values, frame)
    return _weighted(machine, layer, values, frame)


def reduced(options: dict[str, AbstractValue]) -> bool | None:
    """Return whether a loss with these options yields one number; None if it is not known."""
    reduction = options.get("reduction")
    if reduction is None:
        return True
    return reduction.value != "none" if isinstance(reduction, Const) else None


def _activation(
    machine: Machine, layer: Layer, name: str, values: list[AbstractValue], frame: InterpreterFrame
) -> AbstractValue:
    option = layer.options.get("inplace")
    if (
        isinstance(option, Const)
        and option.value
        and values
        and isinstance(values[0], AbstractTensor)
    ):
        return inplace_writes.write(machine, values[0], name + "_", [], frame)
    return operators.operate(machine, name, values, frame)


def _weighted(
    machine: Machine, layer: Layer, values: list[AbstractValue], frame: InterpreterFrame
) -> AbstractValue:
    inputs, ended = value_graphs.origins(values)
    weights = layer.leaf.node if layer.leaf is not None else None
    parents = inputs
    if weights is not None and weights.trainable:
        parents = (*inputs, weights)
    kind = layer.kind.lower()
    if not parents:
        return _outputs(machine, layer, operators.operate(machine, kind, values, frame), frame)
    result = machine.tensor(kind, parents, frame, saves=True, ended=ended)
    if kind == "linear" and values:
        shapes.give(result, shapes.linear(values[0], layer.options.get("out_features", NONE)))
    if result.node is not None:
        saved = result.node.saved
        needs_weights = bool(inputs) or layer.kind in ("LSTM", "GRU", "RNN")
        if layer.leaf is not None and needs_weights and layer.kind.startswith(WEIGHT_FOR_INPUT):
            saved.append((layer.leaf.storage, layer.leaf.storage.version))
        if layer.kind.startswith(INPUT_FOR_WEIGHT) and weights in parents:
            tensors = [
                p for v in values for p in value_graphs.parts(v) if isinstance(p, AbstractTensor)
            ]
            saved.extend((tensor.storage, tensor.storage.version) for tensor in tensors)
    return _outputs(machine, layer, result, frame)


def _outputs(
    machine: Machine, layer: Layer, result: AbstractValue, frame: InterpreterFrame
) -> AbstractValue:
    """Return a layer's result in its layout: recurrent layers return their state too."""

    def part() -> AbstractValue:
        return part_of(machine, result, frame, layer.kind.lower())

    if layer.kind == "LSTM":
        return Sequence([part(), Sequence([part(), part()], "tuple")], "tuple")
    if layer.kind in PAIRS:
        return Sequence([part(), part()], "tuple")
    return result
