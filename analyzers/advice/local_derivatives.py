"""Check the backward of single operations of a hand-written engine, by putting numbers into both.

def __sub__(self, other):
    out = Value(self.data - other.data, (self, other))
    def _backward():
        self.grad += out.grad
        other.grad += -out.grad
"""

from __future__ import annotations

import ast
import math
import operator
import re
from collections.abc import Callable, Iterator, Mapping

from analyzers.advice.looking import Found, last_name, short
from analyzers.source.flow import mentions
from analyzers.source.project import Module, spelled
from analyzers.source.trees import nodes_of, walk

_POINTS = ((0.7, 1.3), (1.9, 0.4), (0.3, 2.1))
_INPUTS = ("prev", "children", "parents", "inputs", "deps", "dependencies")
_COUNTER = re.compile(r"count|degree|pending|remain|uses|users|left|waiting|ready")
_STEP = 1e-6
_CLOSE = 1e-4
_OPERATORS: dict[type[ast.AST], Callable[..., float]] = {
    ast.Add: operator.add,
    ast.Sub: operator.sub,
    ast.Mult: operator.mul,
    ast.Div: operator.truediv,
    ast.Pow: operator.pow,
    ast.USub: operator.neg,
    ast.UAdd: operator.pos,
    ast.Gt: operator.gt,
    ast.Lt: operator.lt,
    ast.GtE: operator.ge,
    ast.LtE: operator.le,
}
_FUNCTIONS: dict[str, Callable[..., float]] = {
    name: getattr(math, name) for name in ("exp", "tanh", "log", "sqrt", "sin", "cos", "pow")
} | {"maximum": max, "max": max, "float": float}
_Values = Mapping[str, float]


class _UnknownError(Exception):
    """An expression holds something that has no number here."""


def wrong_local_derivative(node: ast.AST, module: Module) -> Found:
    """Match a statement of a `_backward` that adds another number than the derivative."""
    return _first(node, module, agrees=False)


def right_local_derivative(node: ast.AST, module: Module) -> Found:
    """Match an operation all of whose derivatives are right, at the first of them."""
    if wrong_local_derivative(node, module) is not None:
        return None
    return _first(node, module, agrees=True)


def gradient_overwritten(node: ast.AST, module: Module) -> Found:
    """Match `self.grad = …` in a function that adds to gradients by the chain rule."""
    for statement in _chained(node):
        if isinstance(statement, ast.Assign) and not _reads_itself(statement):
            return short(statement.targets[0]), statement
    return None


def visited_by_recursion(node: ast.AST, module: Module) -> Found:
    """Match a function that calls `_backward()` of a value and itself for the value's inputs, in
    place of going through sorted values, or counting the uses that are left."""
    if not isinstance(node, ast.FunctionDef) or _counts(node):
        return None
    called = nodes_of(node, ast.Call)
    hands_on = any(last_name(c.func) == "_backward" and not c.args for c in called)
    for loop in nodes_of(node, ast.For):
        over = last_name(loop.iter).strip("_")
        again = (c for c in nodes_of(loop, ast.Call) if last_name(c.func) == node.name)
        if hands_on and over in _INPUTS and (call := next(again, None)) is not None:
            return spelled(call.func), call
    return None


def _counts(function: ast.FunctionDef) -> bool:
    """Return True if a test reads a counter: by its name, or because the function counts it up or
    down."""
    counted = {spelled(n.target) for n in nodes_of(function, ast.AugAssign)}
    tests = [n.test for n in walk(function) if isinstance(n, ast.If | ast.While | ast.IfExp)]
    return any(
        _COUNTER.search(spelled(test)) or any(mentions(test, name) for name in counted)
        for test in tests
    )


def _first(node: ast.AST, module: Module, agrees: bool) -> Found:
    operation = module.parents.get(node)
    while operation is not None and not isinstance(operation, ast.FunctionDef):
        operation = module.parents.get(operation)
    if not isinstance(operation, ast.FunctionDef):
        return None
    for statement in _chained(node):
        if _is_derivative(statement, operation) is agrees:
            return f"{spelled(statement)}", statement
    return None


def _chained(node: ast.AST) -> Iterator[ast.Assign | ast.AugAssign]:
    """Yield the statements of a `_backward` without arguments that write the gradient of an input
    from that of a result."""
    if not isinstance(node, ast.FunctionDef) or "backward" not in node.name or node.args.args:
        return
    for statement in node.body:
        target = _target(statement)
        if target is not None and target.attr == "grad" and isinstance(target.value, ast.Name):
            assert isinstance(statement, ast.Assign | ast.AugAssign)
            read = {spelled(a.value) for a in _gradients(statement.value)}
            if read - {target.value.id}:
                yield statement


def _target(statement: ast.stmt) -> ast.Attribute | None:
    match statement:
        case ast.Assign(targets=[ast.Attribute() as target]):
            return target
        case ast.AugAssign(target=ast.Attribute() as target, op=ast.Add()):
            return target
    return None


def _gradients(node: ast.expr) -> Iterator[ast.Attribute]:
    for inner in walk(node):
        match inner:
            case ast.Attribute(value=ast.Name(), attr="grad"):
                yield inner


def _reads_itself(statement: ast.Assign) -> bool:
    target = spelled(statement.targets[0])
    return any(spelled(read) == target for read in _gradients(statement.value))


def _is_derivative(statement: ast.stmt, operation: ast.FunctionDef) -> bool | None:
    """Return whether a statement adds the derivative of the operation; None if that is unknown."""
    target = _target(statement)
    names = [argument.arg for argument in operation.args.args][:2]
    if target is None or not isinstance(target.value, ast.Name) or target.value.id not in names:
        return None
    assert isinstance(statement, ast.Assign | ast.AugAssign)
    added = statement.value
    named = (spelled(gradient.value) for gradient in _gradients(added))
    result = next((name for name in named if name not in names), None)
    of = target.value.id
    try:
        return all(_agree(added, result or "", of, operation, point) for point in _POINTS)
    except (_UnknownError, ArithmeticError, ValueError, TypeError, RecursionError):
        return None


def _agree(
    added: ast.expr, result: str, of: str, operation: ast.FunctionDef, point: tuple[float, float]
) -> bool:
    names = [argument.arg for argument in operation.args.args]
    given = {f"{name}.data": value for name, value in zip(names, point, strict=False)}
    above, below = (
        _forward({**given, f"{of}.data": given[f"{of}.data"] + h}, result, operation)
        for h in (_STEP, -_STEP)
    )
    slope = (above[f"{result}.data"] - below[f"{result}.data"]) / (2 * _STEP)
    values = {**_forward(given, result, operation), f"{result}.grad": 1.0, f"{of}.grad": 0.0}
    return abs(_number(added, values) - slope) <= _CLOSE * max(1.0, abs(slope))


def _forward(given: _Values, result: str, operation: ast.FunctionDef) -> dict[str, float]:
    """Return the numbers of the operation: of what it is given, of its names, of its result."""
    values = dict(given)
    for statement in operation.body:
        match statement:
            case ast.Assign(targets=[ast.Name(id=name)], value=ast.Call(args=[value, *_])) if (
                name == result
            ):
                values[f"{name}.data"] = _number(value, values)
            case ast.Assign(targets=[ast.Name(id=name)], value=value) if (
                f"{name}.data" not in values
            ):
                values[name] = _number(value, values)
    if f"{result}.data" not in values:
        raise _UnknownError
    return values


def _number(node: ast.expr, values: _Values) -> float:
    match node:
        case ast.Constant(value=int() | float() as value):
            return float(value)
        case ast.Name() | ast.Attribute() if (name := spelled(node)) in values:
            return values[name]
        case ast.BinOp(left=left, op=op, right=right) if type(op) in _OPERATORS:
            return _OPERATORS[type(op)](_number(left, values), _number(right, values))
        case ast.UnaryOp(op=op, operand=operand) if type(op) in _OPERATORS:
            return _OPERATORS[type(op)](_number(operand, values))
        case ast.Compare(left=left, ops=[op], comparators=[right]) if type(op) in _OPERATORS:
            return float(_OPERATORS[type(op)](_number(left, values), _number(right, values)))
        case ast.IfExp(test=test, body=body, orelse=orelse):
            return _number(body if _number(test, values) else orelse, values)
        case ast.Call(func=func, args=args) if (called := last_name(func)) in _FUNCTIONS:
            return _FUNCTIONS[called](*(_number(arg, values) for arg in args))
    raise _UnknownError
