"""Classes of the script: definition, instances, attribute lookup, dataclasses, properties."""

from __future__ import annotations

import ast

from analyzers.reading import handwritten_engines, modules
from analyzers.reading.frames import InterpreterFrame
from analyzers.reading.machine import Machine
from analyzers.reading.values import (
    AbstractValue,
    Bound,
    Class,
    FunctionValue,
    Instance,
    Super,
    Unknown,
)


def define(machine: Machine, node: ast.ClassDef, frame: InterpreterFrame) -> Class:
    """Run a class body; its functions become methods."""
    bases = [machine.evaluate(base, frame) for base in node.bases]
    cls = Class(node, bases, frame)
    body = machine.new_frame(
        frame.file, frame.function, parent=frame, caller=frame.caller, module=frame.module or frame
    )
    body.owner = cls
    body.line = node.lineno
    machine.execute(node.body, body)
    cls.attrs = body.names
    for value in cls.attrs.values():
        if isinstance(value, FunctionValue) and value.frame is body:
            value.frame = frame
    decorated = any("dataclass" in ast.unparse(d) for d in node.decorator_list)
    tuple_like = any("NamedTuple" in path for path in cls.library_bases())
    if decorated or tuple_like:
        cls.fields = [
            statement.target.id
            for owner in reversed(cls.lineage())
            for statement in owner.definition.body
            if isinstance(statement, ast.AnnAssign) and isinstance(statement.target, ast.Name)
        ]
    cls.engine = handwritten_engines.backward_method(cls)
    return cls


def instantiate(
    machine: Machine,
    cls: Class,
    args: list[AbstractValue],
    kwargs: dict[str, AbstractValue],
    frame: InterpreterFrame,
) -> AbstractValue:
    """Return a new instance, with `__init__` run."""
    if any("Enum" in path for path in cls.library_bases()):
        return Unknown(cls.name, data=True)
    instance = Instance(cls)
    if cls.engine:
        handwritten_engines.created(machine, instance, [*args, *kwargs.values()], frame)
    init = cls.lookup("__init__")
    if isinstance(init, FunctionValue):
        machine.call(init, [instance, *args], kwargs, frame)
    elif cls.fields is not None:
        for name, value in zip(cls.fields, args, strict=False):
            instance.attrs[name] = value
        for name in cls.fields[len(args) :]:
            default = kwargs.get(name) or _default(machine, cls, name, frame)
            if default is not None:
                instance.attrs[name] = default
        after = cls.lookup("__post_init__")
        if after is not None:
            machine.call(after, [instance], {}, frame)
    return instance


def _default(
    machine: Machine, cls: Class, name: str, frame: InterpreterFrame
) -> AbstractValue | None:
    """Return a dataclass field's default; factories are called for each instance."""
    value = cls.lookup(name)
    if isinstance(value, Unknown) and "default_factory" in value.attrs:
        return machine.call(value.attrs["default_factory"], [], {}, frame)
    return value


def method_of(value: AbstractValue, name: str) -> AbstractValue | None:
    """Return a bound method of an instance, or None."""
    if isinstance(value, Instance):
        found = value.cls.lookup(name)
        if isinstance(found, FunctionValue):
            return bind(found, value)
    return None


def bind(function: FunctionValue, receiver: Instance) -> AbstractValue:
    """Return the value of a function looked up on an instance."""
    if "staticmethod" in function.tags:
        return function
    if "classmethod" in function.tags:
        return Bound(function, receiver.cls)
    return Bound(function, receiver)


def super_value(frame: InterpreterFrame) -> AbstractValue:
    """Return what `super()` denotes in a method."""
    inner: InterpreterFrame | None = frame
    while inner is not None and inner.owner is None:
        inner = inner.parent
    if inner is not None and inner.owner is not None and inner.names:
        receiver = next(iter(inner.names.values()))
        if isinstance(receiver, Instance):
            return Super(receiver, inner.owner)
    return Unknown()


def is_layer(cls: Class) -> bool:
    """Return True if the class derives from a layer that has weights."""
    return any(
        "nn." in path and path.rpartition(".")[2].startswith(modules.WEIGHT_FOR_INPUT)
        for path in cls.library_bases()
    )


def is_chain(cls: Class) -> bool:
    """Return True if the class derives from `nn.Sequential`."""
    return any(path.rpartition(".")[2] == "Sequential" for path in cls.library_bases())


def is_autograd_function(cls: Class) -> bool:
    """Return True if the class derives from `torch.autograd.Function`."""
    return any(
        path.endswith("autograd.Function") or path == "Function" for path in cls.library_bases()
    )
