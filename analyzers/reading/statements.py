"""Statements: what each does to names and to the flow of control."""

from __future__ import annotations

import ast

from analyzers.reading import assigning, classes, conditions, function_values, importing
from analyzers.reading.dispatch import Signal, statement
from analyzers.reading.frames import InterpreterFrame
from analyzers.reading.machine import Machine
from analyzers.reading.values import (
    NONE,
    AbstractValue,
    Const,
    Mapping,
    Sequence,
    Unknown,
)
from analyzers.source.trees import walk


@statement(ast.Expr)
def _expression(machine: Machine, node: ast.Expr, frame: InterpreterFrame) -> None:
    if not isinstance(node.value, ast.Constant):
        machine.evaluate(node.value, frame)


@statement(ast.Assign)
def _assign(machine: Machine, node: ast.Assign, frame: InterpreterFrame) -> None:
    value = machine.evaluate(node.value, frame)
    for target in node.targets:
        assigning.assign(machine, target, value, frame)


@statement(ast.AnnAssign)
def _annotated(machine: Machine, node: ast.AnnAssign, frame: InterpreterFrame) -> None:
    if node.value is not None:
        assigning.assign(machine, node.target, machine.evaluate(node.value, frame), frame)


@statement(ast.AugAssign)
def _augmented(machine: Machine, node: ast.AugAssign, frame: InterpreterFrame) -> None:
    assigning.augment(machine, node, frame)


@statement(ast.If)
def _if(machine: Machine, node: ast.If, frame: InterpreterFrame) -> Signal | None:
    if conditions.decide_if(machine, node, frame):
        return machine.execute(node.body, frame)
    return machine.execute(node.orelse, frame)


@statement(ast.Return)
def _return(machine: Machine, node: ast.Return, frame: InterpreterFrame) -> Signal:
    frame.returned = machine.evaluate(node.value, frame) if node.value else NONE
    return Signal.RETURN


@statement(ast.Break)
def _break(machine: Machine, node: ast.Break, frame: InterpreterFrame) -> Signal:
    return Signal.BREAK


@statement(ast.Continue)
def _continue(machine: Machine, node: ast.Continue, frame: InterpreterFrame) -> Signal:
    return Signal.CONTINUE


@statement(ast.Raise)
def _raise(machine: Machine, node: ast.Raise, frame: InterpreterFrame) -> Signal:
    return Signal.RAISE


@statement(ast.Try, ast.TryStar)
def _try(machine: Machine, node: ast.Try, frame: InterpreterFrame) -> Signal | None:
    signal = machine.execute(node.body, frame)
    if signal is Signal.RAISE and node.handlers:
        handler = node.handlers[0]
        if handler.name:
            machine.bind(frame, handler.name, Unknown())
        signal = machine.execute(handler.body, frame)
    elif signal is None:
        signal = machine.execute(node.orelse, frame)
    final = machine.execute(node.finalbody, frame)
    return final or signal


@statement(ast.FunctionDef, ast.AsyncFunctionDef)
def _function(machine: Machine, node: ast.FunctionDef, frame: InterpreterFrame) -> None:
    function = function_values.make_function(machine, node, frame)
    value: AbstractValue = function
    for decorator in reversed(node.decorator_list):
        value = function_values.decorate(machine, decorator, value, function, frame)
    machine.bind(frame, node.name, value)


@statement(ast.ClassDef)
def _class(machine: Machine, node: ast.ClassDef, frame: InterpreterFrame) -> None:
    machine.bind(frame, node.name, classes.define(machine, node, frame))


@statement(ast.Import)
def _import(machine: Machine, node: ast.Import, frame: InterpreterFrame) -> None:
    for alias in node.names:
        importing.import_module(machine, alias.name, alias.asname, frame)


@statement(ast.ImportFrom)
def _import_from(machine: Machine, node: ast.ImportFrom, frame: InterpreterFrame) -> None:
    importing.import_names(machine, node, frame)


@statement(ast.Global)
def _global(machine: Machine, node: ast.Global, frame: InterpreterFrame) -> None:
    if frame.module is not None:
        frame.elsewhere.update(dict.fromkeys(node.names, frame.module))


@statement(ast.Nonlocal)
def _nonlocal(machine: Machine, node: ast.Nonlocal, frame: InterpreterFrame) -> None:
    for name in node.names:
        outer = frame.parent
        while outer is not None and name not in outer.names:
            outer = outer.parent
        if outer is not None:
            frame.elsewhere[name] = outer


@statement(ast.Delete)
def _delete(machine: Machine, node: ast.Delete, frame: InterpreterFrame) -> None:
    for target in node.targets:
        if isinstance(target, ast.Name):
            frame.names.pop(target.id, None)
        elif isinstance(target, ast.Subscript):
            container = machine.evaluate(target.value, frame)
            index = machine.evaluate(target.slice, frame)
            if isinstance(container, Sequence) and container.items:
                _drop(container, index)
            elif isinstance(container, Mapping) and isinstance(index, Const):
                container.items.pop(index.value, None)


def _drop(container: Sequence, index: AbstractValue) -> None:
    """Execute `del xs[i]` or `del xs[:k]`; an unknown index drops the oldest item."""
    place = index.value if isinstance(index, Const) else 0
    size = len(container.items)
    if isinstance(place, slice) or (isinstance(place, int) and -size <= place < size):
        del container.items[place]
    else:
        del container.items[0]


@statement(ast.Match)
def _match(machine: Machine, node: ast.Match, frame: InterpreterFrame) -> Signal | None:
    subject = machine.evaluate(node.subject, frame)
    cases = node.cases
    chosen = None
    for case in cases:
        pattern = case.pattern
        if isinstance(pattern, ast.MatchValue) and isinstance(subject, Const):
            wanted = machine.evaluate(pattern.value, frame)
            if not isinstance(wanted, Const) or wanted.value != subject.value:
                continue
        chosen = case
        break
    if chosen is None:
        return None
    for inner in walk(chosen.pattern):
        if isinstance(inner, ast.MatchAs | ast.MatchStar) and inner.name:
            machine.bind(frame, inner.name, subject)
    return machine.execute(chosen.body, frame)
