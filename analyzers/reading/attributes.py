"""Attributes: of instances and their classes, tensors, modules, unknown objects."""

from __future__ import annotations

import ast

from analyzers.reading import (
    backward_calls,
    classes,
    gradients,
    handwritten_engines,
    importing,
    operators,
    tensors,
    value_graphs,
)
from analyzers.reading.frames import InterpreterFrame
from analyzers.reading.graph import Lost, NameBinding
from analyzers.reading.machine import Machine
from analyzers.reading.parameters import leaf_tensor
from analyzers.reading.tensors import MODULE_METHODS, TENSOR_METHODS
from analyzers.reading.torch_values import GradientValue, Layer, OptimizerValue
from analyzers.reading.values import (
    NONE,
    AbstractTensor,
    AbstractValue,
    Bound,
    Class,
    Const,
    FunctionValue,
    Instance,
    Library,
    Mapping,
    MethodValue,
    Sequence,
    Super,
    Unknown,
)
from analyzers.source.project import spelled

_FACTS = frozenset({"shape", "device", "dtype", "ndim", "is_cuda", "layout", "requires_grad"})
# The named fields of what `max(dim=...)`, `sort` and `topk` return.
_FIELDS = {"values": 0, "indices": 1}


def read(
    machine: Machine, owner: AbstractValue, name: str, frame: InterpreterFrame
) -> AbstractValue:
    """Return the value of `owner.name`."""
    if isinstance(owner, Instance):
        return _of_instance(machine, owner, name, frame)
    if isinstance(owner, Library):
        return importing.member(owner.path, name)
    if isinstance(owner, Unknown):
        return _of_unknown(machine, owner, name, frame)
    if isinstance(owner, AbstractTensor):
        return _of_tensor(machine, owner, name, frame)
    if isinstance(owner, Class):
        found = owner.lookup(name)
        if isinstance(found, FunctionValue) and "classmethod" in found.tags:
            return Bound(found, owner)
        if found is None and name == "apply" and classes.is_autograd_function(owner):
            return MethodValue(owner, "apply")
        return found or Unknown(name)
    if isinstance(owner, Super):
        return _of_super(owner, name)
    if isinstance(owner, GradientValue) and name == "data":
        return owner
    if isinstance(owner, Layer | OptimizerValue):
        found = owner.attrs.get(name)
        if found is None and name in ("weight", "bias") and isinstance(owner, Layer) and owner.leaf:
            return owner.leaf
        return found or MethodValue(owner, name)
    if isinstance(owner, Sequence) and owner.kind == "tuple" and name in _FIELDS:
        position = _FIELDS[name]
        return owner.items[position] if position < len(owner.items) else Unknown()
    if isinstance(owner, FunctionValue | Bound):
        return Unknown(name)
    return MethodValue(owner, name)


def _of_instance(
    machine: Machine, owner: Instance, name: str, frame: InterpreterFrame
) -> AbstractValue:
    if name in owner.attrs:
        return owner.attrs[name]
    found = owner.cls.lookup(name)
    if isinstance(found, FunctionValue):
        found = found.getter or found
        if "property" in found.tags:
            value = machine.call(found, [owner], {}, frame)
            if "cached_property" in found.tags:
                owner.attrs[name] = value
            return value
        if owner.cls.engine and name == owner.cls.engine:
            return MethodValue(owner, "backward")
        return classes.bind(found, owner)
    if found is not None:
        return found
    if name == "__dict__":
        return Mapping.of(owner.attrs)
    if owner.cls.library_bases():
        if name in MODULE_METHODS:
            return MethodValue(owner, name)
        if name in ("weight", "bias") and classes.is_layer(owner.cls):
            return owner.attrs.setdefault(name, leaf_tensor(machine, frame))
    return _remember(owner.attrs, name)


def _remember(attrs: dict[str, AbstractValue], name: str) -> AbstractValue:
    value = attrs[name] = Unknown(name)
    return value


def _of_unknown(
    machine: Machine, owner: Unknown, name: str, frame: InterpreterFrame
) -> AbstractValue:
    if name in owner.attrs:
        return owner.attrs[name]
    if name in TENSOR_METHODS:
        return MethodValue(owner, name)
    if name == "data":
        cut = (owner.node,) if owner.node is not None else ()
        return AbstractTensor(
            lost=Lost("data", frame.place(), cut, value_graphs.origins([owner])[1])
        )
    if name == "grad" or name in _FACTS:
        return Unknown(data=True)
    value = Unknown(name, data=owner.data, lost=owner.lost)
    if owner.node is not None:
        value.node = machine.tape.node(  # type: ignore[misc]
            owner.node.op, frame.place(), (owner.node,), False
        )
    owner.attrs[name] = value
    return value


def _of_tensor(
    machine: Machine, owner: AbstractTensor, name: str, frame: InterpreterFrame
) -> AbstractValue:
    match name:
        case "data":
            lost = owner.lost
            if owner.node is not None:
                lost = Lost("data", frame.place(), (owner.node,))
            apart = type(owner.storage)(owner.storage.leaf)  # the same memory, a version of its own
            apart.names = owner.storage.names
            data = AbstractTensor(storage=apart, scalar=owner.scalar, lost=lost)
            data.shape = owner.shape
            return data
        case "grad":
            return _grad_of(machine, owner, frame)
        case "T" | "mT" | "H" | "real" | "imag":
            return operators.operate(machine, name, [owner], frame)
        case "grad_fn":
            return NONE if owner.node is None or owner.node.leaf else Unknown(data=True)
        case "requires_grad" if owner.node is not None and owner.node.leaf:
            return Const(owner.node.trainable)
        case _ if name in _FACTS or name in ("is_leaf", "names", "_version"):
            return Unknown(data=True)
    return MethodValue(owner, name)


def _grad_of(machine: Machine, owner: AbstractTensor, frame: InterpreterFrame) -> AbstractValue:
    """Return `x.grad`: the gradient of a leaf, None for a non-leaf that a backward call reached."""
    node = owner.node
    if node is not None and node.leaf:
        return gradients.read(machine, node, frame)
    if node is None or not node.strong or owner.keeps_grad:
        return Unknown(data=True)
    if owner.grad_cut is not None and machine.tape.calls:
        backward_calls.without_grad(machine, owner, owner.grad_cut, frame)
    elif node.times_reached:
        backward_calls.without_grad(machine, owner, Lost("nonleaf", node.at), frame)
    return Unknown(data=True)


def _of_super(owner: Super, name: str) -> AbstractValue:
    lineage = owner.receiver.cls.lineage()
    start = lineage.index(owner.owner) + 1 if owner.owner in lineage else 1
    for cls in lineage[start:]:
        found = cls.attrs.get(name)
        if isinstance(found, FunctionValue):
            return classes.bind(found, owner.receiver)
    return MethodValue(owner.receiver, name)


def write(
    machine: Machine,
    owner: AbstractValue,
    target: ast.Attribute,
    value: AbstractValue,
    frame: InterpreterFrame,
) -> None:
    """Execute `owner.name = value`."""
    name = target.attr
    if isinstance(owner, Instance):
        if _set_by_property(machine, owner, name, value, frame):
            return
        if owner.cls.engine:
            handwritten_engines.attribute_set(owner, name, value)
    if isinstance(owner, GradientValue) or (
        name == "grad" and isinstance(owner, AbstractTensor | Unknown)
    ):
        machine.gradient_set(owner)
        return
    if isinstance(owner, AbstractTensor):
        _write_tensor(machine, owner, name, value, frame)
        return
    attrs = getattr(owner, "attrs", None)
    if not isinstance(attrs, dict):
        return
    attrs[name] = value
    if isinstance(owner, Instance) and owner.cls.engine:
        return  # a node's own links to its inputs carry nothing anywhere
    logs: dict[str, list[int]] = getattr(owner, "logs", {})
    log = logs.setdefault(name, [])
    moment = machine.tape.tick()
    log.append(moment)
    machine.changed = moment
    if value.node is None and not value.keeps_names:
        return
    path = spelled(target)
    machine.name(
        value, NameBinding(path, frame.function, "attribute", "Tensor", frame.serial, log, moment)
    )
    machine.write((path, "attribute"), value)


def _set_by_property(
    machine: Machine, owner: Instance, name: str, value: AbstractValue, frame: InterpreterFrame
) -> bool:
    setter = owner.cls.lookup(name)
    if not (isinstance(setter, FunctionValue) and "setter" in setter.tags):
        return False
    machine.call(setter, [owner, value], {}, frame)
    return True


def _write_tensor(
    machine: Machine,
    owner: AbstractTensor,
    name: str,
    value: AbstractValue,
    frame: InterpreterFrame,
) -> None:
    if name == "requires_grad" and isinstance(value, Const):
        if value.value and owner.node is None:
            owner.node = machine.leaf_node(frame, owner.lost)  # type: ignore[misc]
            owner.storage.leaf = owner.node
        elif owner.node is not None and owner.node.leaf:
            owner.node.trainable = bool(value.value)
        elif owner.node is not None and owner.node.strong and not value.value:
            backward_calls.refused(machine, owner, "nonleaf", tensors.FLAGS, frame)
    elif name == "data" and owner.node is not None:
        owner.shape = None
        owner.storage = type(owner.storage)(owner.storage.leaf)
        machine.changed_by_hand(owner.node)
