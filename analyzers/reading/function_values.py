"""Make functions of definitions, and apply their decorators."""

from __future__ import annotations

import ast

from analyzers.reading.calling import Definition
from analyzers.reading.frames import InterpreterFrame
from analyzers.reading.machine import Machine
from analyzers.reading.torch_values import Context
from analyzers.reading.values import (
    AbstractValue,
    FunctionValue,
    Library,
)


def make_function(machine: Machine, node: Definition, frame: InterpreterFrame) -> FunctionValue:
    """Return the function of a definition, with its defaults evaluated now."""
    function = FunctionValue(node, frame)
    if not frame.captured:
        frame.captured = True
        machine.captured.append(frame)
    function.owner = frame.owner
    arguments = node.args
    positional = [*arguments.posonlyargs, *arguments.args]
    for arg, default in zip(reversed(positional), reversed(arguments.defaults), strict=False):
        function.defaults[arg.arg] = machine.evaluate(default, frame)
    for arg, keyword_default in zip(arguments.kwonlyargs, arguments.kw_defaults, strict=True):
        if keyword_default is not None:
            function.defaults[arg.arg] = machine.evaluate(keyword_default, frame)
    return function


def decorate(
    machine: Machine,
    decorator: ast.expr,
    value: AbstractValue,
    function: FunctionValue,
    frame: InterpreterFrame,
) -> AbstractValue:
    """Return the value of a function under a decorator."""
    made = machine.evaluate(decorator, frame)
    name = made.path.rpartition(".")[2] if isinstance(made, Library) else ""
    if isinstance(made, Context):
        function.no_grad = made.grad is False
        return value
    if name in ("no_grad", "inference_mode"):
        function.no_grad = True
    elif name in ("staticmethod", "classmethod", "property", "cached_property"):
        function.tags |= {name}
        if name == "cached_property":
            function.tags |= {"property"}
    elif name in ("lru_cache", "cache") or _is_cache(decorator):
        function.cached = {}
    elif isinstance(made, FunctionValue):
        return machine.call(made, [value], {}, frame)
    elif isinstance(decorator, ast.Attribute) and decorator.attr in ("setter", "deleter"):
        function.tags |= {"setter"}
        before = frame.names.get(function.name)
        if isinstance(before, FunctionValue):
            function.getter = before.getter or before
    return value


def _is_cache(decorator: ast.expr) -> bool:
    inner = decorator.func if isinstance(decorator, ast.Call) else decorator
    last = inner.attr if isinstance(inner, ast.Attribute) else getattr(inner, "id", "")
    return last in ("lru_cache", "cache")
