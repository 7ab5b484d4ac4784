"""Assignment: names, attributes, items and unpacking; augmented assignment writes in place."""

from __future__ import annotations

import ast

from analyzers.reading import attributes, containers, inplace_writes, operators
from analyzers.reading.classes import method_of
from analyzers.reading.frames import InterpreterFrame
from analyzers.reading.machine import Machine
from analyzers.reading.values import AbstractTensor, AbstractValue, Const, Sequence, Unknown
from analyzers.source.project import spelled


def assign(
    machine: Machine, target: ast.expr, value: AbstractValue, frame: InterpreterFrame
) -> None:
    """Give a value to an assignment target."""
    if isinstance(target, ast.Name):
        machine.bind(frame, target.id, value)
    elif isinstance(target, ast.Attribute):
        owner = machine.evaluate(target.value, frame)
        attributes.write(machine, owner, target, value, frame)
    elif isinstance(target, ast.Subscript):
        container = machine.evaluate(target.value, frame)
        index = machine.evaluate(target.slice, frame)
        containers.store(machine, container, index, value, spelled(target.value), frame)
    elif isinstance(target, ast.Tuple | ast.List):
        _unpack(machine, target.elts, value, frame)
    elif isinstance(target, ast.Starred):
        assign(machine, target.value, value, frame)


def _unpack(
    machine: Machine, targets: list[ast.expr], value: AbstractValue, frame: InterpreterFrame
) -> None:
    starred = next((i for i, t in enumerate(targets) if isinstance(t, ast.Starred)), None)
    if starred is None:
        parts = containers.split(machine, value, len(targets), frame)
    else:
        items = containers.listed(machine, value, frame)
        last_targets = len(targets) - starred - 1
        if len(items) < len(targets) - 1:
            items = containers.split(machine, value, len(targets), frame)
        end = len(items) - last_targets
        middle = Sequence(items[starred:end])
        parts = [*items[:starred], middle, *items[end:]]
    for target, part in zip(targets, parts, strict=False):
        assign(machine, target, part, frame)


def augment(machine: Machine, node: ast.AugAssign, frame: InterpreterFrame) -> None:
    """Execute `x += y`: in place for tensors and lists, a new value for everything else."""
    load = _as_load(node.target)
    old = machine.evaluate(load, frame)
    value = machine.evaluate(node.value, frame)
    if isinstance(old, AbstractTensor) and isinstance(node.op, operators.IN_PLACE):
        new: AbstractValue = inplace_writes.write(
            machine, old, operators.name_of(node.op) + "_", [value], frame
        )
    elif isinstance(old, Sequence) and isinstance(node.op, ast.Add):
        containers.extend(machine, old, value, frame)
        return
    elif (own := _own(old, node.op)) is not None:
        new = machine.call(own, [value], {}, frame)
    elif isinstance(old, Unknown) and not machine.grad:
        new = old  # written in place without recording, it stays what it is: perhaps a leaf
    else:
        new = operators.binary(machine, node.op, old, value, frame)
    if isinstance(old, Const) and isinstance(node.target, ast.Attribute):
        owner = machine.evaluate(node.target.value, frame)
        attrs = getattr(owner, "attrs", None)
        if isinstance(attrs, dict):
            machine.counters[(id(owner), node.target.attr)] = attrs
    assign(machine, node.target, new, frame)


def _own(value: AbstractValue, operator: ast.operator) -> AbstractValue | None:
    """Return the result of the object's own `__iadd__` or its like, or None."""
    name = operators.DUNDERS.get(type(operator))
    return method_of(value, f"__i{name}__") if name is not None else None


def _as_load(target: ast.expr) -> ast.expr:
    match target:
        case ast.Name(id=name):
            load: ast.expr = ast.Name(id=name, ctx=ast.Load())
        case ast.Attribute(value=value, attr=attr):
            load = ast.Attribute(value=value, attr=attr, ctx=ast.Load())
        case ast.Subscript(value=value, slice=index):
            load = ast.Subscript(value=value, slice=index, ctx=ast.Load())
        case _:
            return target
    return ast.copy_location(load, target)


def forget(value: AbstractValue) -> AbstractValue:
    """Return an unknown in place of a number that a loop changes."""
    changes = isinstance(value, Const) and type(value.value) in (int, float)
    return Unknown(data=True) if changes else value
