"""Expressions: names, literals, items, comprehensions, calls."""

from __future__ import annotations

import ast

from analyzers.reading import attributes, calling, containers, function_values, guesses, loops
from analyzers.reading.builtin_names import BUILTINS, USUAL_IMPORTS
from analyzers.reading.dispatch import expression
from analyzers.reading.frames import InterpreterFrame
from analyzers.reading.machine import Machine
from analyzers.reading.torch_values import StreamValue
from analyzers.reading.values import (
    OTHERS,
    AbstractValue,
    Const,
    Library,
    Mapping,
    Sequence,
    Unknown,
)


@expression(ast.Name)
def _name(machine: Machine, node: ast.Name, frame: InterpreterFrame) -> AbstractValue:
    name = node.id
    value = frame.names.get(name) or frame.lookup(name)
    if value is None:
        if name in BUILTINS:
            return Library(f"builtins.{name}")
        module = frame.module or frame
        usual = USUAL_IMPORTS.get(name)
        value = Library(usual) if usual else guesses.name(machine, name, module)
        module.names[name] = value
    if value.node is not None:
        value.node.read = name
    return value


@expression(ast.Constant)
def _constant(machine: Machine, node: ast.Constant, frame: InterpreterFrame) -> AbstractValue:
    return Const(node.value)


@expression(ast.Attribute)
def _attribute(machine: Machine, node: ast.Attribute, frame: InterpreterFrame) -> AbstractValue:
    value = attributes.read(machine, machine.evaluate(node.value, frame), node.attr, frame)
    if value.node is not None:
        value.node.read = node.attr
    return value


@expression(ast.Subscript)
def _subscript(machine: Machine, node: ast.Subscript, frame: InterpreterFrame) -> AbstractValue:
    container = machine.evaluate(node.value, frame)
    return containers.fetch(machine, container, machine.evaluate(node.slice, frame), frame)


@expression(ast.Slice)
def _slice(machine: Machine, node: ast.Slice, frame: InterpreterFrame) -> AbstractValue:
    bounds: list[int | None] = []
    for bound in (node.lower, node.upper, node.step):
        value = machine.evaluate(bound, frame) if bound is not None else Const(None)
        known = isinstance(value, Const) and isinstance(value.value, int | None)
        if not known:
            return Const(slice(None))
        bounds.append(value.value)  # type: ignore[attr-defined]
    return Const(slice(*bounds)) if bounds[2] != 0 else Const(slice(None))


def _elements(
    machine: Machine, nodes: list[ast.expr], frame: InterpreterFrame
) -> list[AbstractValue]:
    items: list[AbstractValue] = []
    for node in nodes:
        if isinstance(node, ast.Starred):
            items.extend(containers.listed(machine, machine.evaluate(node.value, frame), frame))
        else:
            items.append(machine.evaluate(node, frame))
    return items


@expression(ast.List)
def _list(machine: Machine, node: ast.List, frame: InterpreterFrame) -> AbstractValue:
    others_fill = bool(machine.suspecting) and not node.elts
    return Sequence(_elements(machine, node.elts, frame), open_=others_fill)


@expression(ast.Tuple)
def _tuple(machine: Machine, node: ast.Tuple, frame: InterpreterFrame) -> AbstractValue:
    return Sequence(_elements(machine, node.elts, frame), "tuple")


@expression(ast.Set)
def _set(machine: Machine, node: ast.Set, frame: InterpreterFrame) -> AbstractValue:
    return Sequence(_elements(machine, node.elts, frame), "set")


@expression(ast.Dict)
def _dict(machine: Machine, node: ast.Dict, frame: InterpreterFrame) -> AbstractValue:
    found = Mapping()
    for key, item in zip(node.keys, node.values, strict=True):
        value = machine.evaluate(item, frame)
        if key is None:
            if isinstance(value, Mapping):
                found.items.update(value.items)
            continue
        known = machine.evaluate(key, frame)
        if isinstance(known, Const):
            found.items[known.value] = value
        else:
            found.rest.append(value)
    return found


@expression(ast.ListComp, ast.SetComp, ast.GeneratorExp)
def _list_comprehension(
    machine: Machine, node: ast.ListComp, frame: InterpreterFrame
) -> AbstractValue:
    items = [
        machine.evaluate(node.elt, frame)
        for _ in loops.comprehension(machine, node.generators, frame)
    ]
    return Sequence(items, "list")


@expression(ast.DictComp)
def _dict_comprehension(
    machine: Machine, node: ast.DictComp, frame: InterpreterFrame
) -> AbstractValue:
    found = Mapping()
    for _ in loops.comprehension(machine, node.generators, frame):
        key = machine.evaluate(node.key, frame)
        value = machine.evaluate(node.value, frame)
        if isinstance(key, Const):
            found.items[key.value] = value
        else:
            found.rest = [*found.rest[-3:], value]
    return found


@expression(ast.Lambda)
def _lambda(machine: Machine, node: ast.Lambda, frame: InterpreterFrame) -> AbstractValue:
    return function_values.make_function(machine, node, frame)


@expression(ast.NamedExpr)
def _walrus(machine: Machine, node: ast.NamedExpr, frame: InterpreterFrame) -> AbstractValue:
    value = machine.evaluate(node.value, frame)
    machine.bind(frame, node.target.id, value)
    machine.walrus.add(node.target.id)
    return value


@expression(ast.Starred, ast.Await)
def _inner(machine: Machine, node: ast.Starred, frame: InterpreterFrame) -> AbstractValue:
    return machine.evaluate(node.value, frame)


@expression(ast.JoinedStr)
def _text(machine: Machine, node: ast.JoinedStr, frame: InterpreterFrame) -> AbstractValue:
    parts: list[str] = []
    for part in node.values:
        inner = part.value if isinstance(part, ast.FormattedValue) else part
        value = machine.evaluate(inner, frame)
        plain = not isinstance(part, ast.FormattedValue) or part.format_spec is None
        if not (plain and isinstance(value, Const) and len(str(value.value)) < 200):
            return Unknown(data=True)
        parts.append(str(value.value))
    return Const("".join(parts))


@expression(ast.Yield)
def _yield(machine: Machine, node: ast.Yield, frame: InterpreterFrame) -> AbstractValue:
    value = machine.evaluate(node.value, frame) if node.value else Const(None)
    if frame.consumer is not None:
        frame.consumer(value)
        return Unknown()
    frame.yields = [*(frame.yields or ()), value]
    return Unknown()


@expression(ast.YieldFrom)
def _yield_from(machine: Machine, node: ast.YieldFrom, frame: InterpreterFrame) -> AbstractValue:
    with machine.feeding(node.value, frame.consumer):
        value = machine.evaluate(node.value, frame)
    if frame.consumer is not None:
        for item in containers.listed(machine, value, frame):
            frame.consumer(item)
        return Unknown()
    frame.yields = [*(frame.yields or ()), *containers.listed(machine, value, frame)]
    return Unknown()


@expression(ast.Call)
def _call(machine: Machine, node: ast.Call, frame: InterpreterFrame) -> AbstractValue:
    callee = machine.evaluate(node.func, frame)
    args, kwargs = _arguments(machine, node, frame)
    func = node.func
    frame.line = (
        (func.end_lineno or node.lineno) if isinstance(func, ast.Attribute) else node.lineno
    )
    return calling.call_at(machine, node, callee, args, kwargs, frame)


def _arguments(
    machine: Machine, node: ast.Call, frame: InterpreterFrame
) -> tuple[list[AbstractValue], dict[str, AbstractValue]]:
    args: list[AbstractValue] = []
    for arg in node.args:
        value = machine.evaluate(arg, frame)
        if isinstance(arg, ast.Starred):
            if isinstance(value, Sequence | Mapping | StreamValue):
                args.extend(containers.listed(machine, value, frame))
                continue
        args.append(value)
    kwargs: dict[str, AbstractValue] = {}
    for keyword in node.keywords:
        value = machine.evaluate(keyword.value, frame)
        if keyword.arg is not None:
            kwargs[keyword.arg] = value
        elif isinstance(value, Mapping):
            kwargs.update((k, v) for k, v in value.items.items() if isinstance(k, str))
            if value.rest:
                kwargs[OTHERS] = value.rest[-1]
    return args, kwargs
