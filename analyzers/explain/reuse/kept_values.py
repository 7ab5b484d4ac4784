"""Recognise how a name's next value contains its last one: sums, running averages, queues."""

from __future__ import annotations

import ast
import builtins
from collections.abc import Callable, Iterator
from math import isclose

from analyzers.explain.reuse.aliasing import denoted
from analyzers.source.callees import is_call, operation
from analyzers.source.calls import calls_of
from analyzers.source.flow import (
    bindings,
    definitions,
    is_dotted,
    names_read,
    own_expressions,
    value_of,
    walk_scope,
)
from analyzers.source.project import Project, Scope, spelled
from analyzers.source.targets import taken_by, target_names
from analyzers.source.trees import nodes_of, remembered, walk, whole

_KEEPING_CALLS = frozenset(
    {"cat", "concat", "stack", "vstack", "hstack", "roll", "where", "max", "min", "sorted", "len"}
)
_KEEPING_METHODS = frozenset({"index_copy", "scatter", "index_put", "lerp", "roll", "clone", "mul"})


def adds_up(
    statement: ast.stmt, is_carrier: Callable[[str], bool], scope: Scope, project: Project
) -> bool:
    """Return True if the statement adds to the carrier: `x += y`, `x = x + y`, or a running
    average.
    """
    if isinstance(statement, ast.AugAssign):
        return isinstance(statement.op, ast.Add | ast.Sub)
    value = value_of(statement)
    return value is not None and any(
        _adds_up_value(arm, is_carrier, scope) for arm in arms(value, scope, project)
    )


def arms(value: ast.expr, scope: Scope, project: Project) -> tuple[ast.expr, ...]:
    """Return the possible values of an expression: both branches of `a if x else b`, also if it is
    named or returned.
    """
    made = denoted(value, scope, project)
    return (made.body, made.orelse) if isinstance(made, ast.IfExp) else (made,)


def _adds_up_value(value: ast.expr, is_carrier: Callable[[str], bool], scope: Scope) -> bool:
    if is_average(value, is_carrier, scope):
        return True
    if not isinstance(value, ast.BinOp) or not isinstance(value.op, ast.Add | ast.Sub):
        return False
    return is_carrier(container(value.left)) or is_carrier(container(value.right))


def container(value: ast.expr) -> str:
    """Return what a value is an entry of (`totals` for `totals[k]` and `totals.get(k, 0)`), or
    itself.
    """
    if isinstance(value, ast.Call) and isinstance(value.func, ast.Attribute):
        return spelled(value.func.value) if value.func.attr == "get" else ""
    base = whole(value)
    return spelled(base) if isinstance(base, ast.Name | ast.Attribute) else ""


_REDUCING = ("sum", "mean", "stack", "cat", "hstack", "nansum", "fsum", "add", "backward")


def sums(value: ast.expr, name: str) -> bool:
    """Return True if the value is a sum or mean with the name as a summand, not as a factor."""
    match value:
        case ast.BinOp(left=left, op=ast.Add() | ast.Sub(), right=right):
            return sums(left, name) or sums(right, name)
        case ast.BinOp(left=left, op=ast.Mult() | ast.Div(), right=right):
            return (sums(left, name) and not _may_hold(right)) or (
                sums(right, name) and not _may_hold(left)
            )
        case ast.Call(func=ast.Attribute(value=owner, attr=method), args=arguments):
            return (method in _REDUCING and any(sums(a, name) for a in (owner, *arguments))) or (
                method in ("values", "get") and sums(owner, name)
            )
        case ast.Call(func=ast.Name(id=function), args=arguments):
            return function in _REDUCING and any(sums(argument, name) for argument in arguments)
        case ast.List(elts=elements) | ast.Tuple(elts=elements):
            return any(sums(element, name) for element in elements)
        case ast.ListComp(generators=[only]) | ast.GeneratorExp(generators=[only]):
            return sums(only.iter, name)
        case ast.IfExp(body=body, orelse=other):
            return sums(body, name) or sums(other, name)
    return spelled(whole(value)) == name


def _may_hold(factor: ast.expr) -> bool:
    """Return True if a factor may itself be computed by a model."""
    return any(
        not is_call(node, "builtins.len", "torch.Tensor.float", "builtins.int")
        for node in nodes_of(factor, ast.Call)
    )


def fresh_names(value: ast.AST, is_carrier: Callable[[str], bool], scope: Scope) -> set[str]:
    """Return names read by a carrier's new value, except where it only keeps the old one.

    Exceptions are `cat([old, new])`, `old.index_copy(0, i, new)` and `m * old + (1 - m) * new`.
    """
    kept = {id(node) for node in _kept_operands(value, is_carrier, scope)}
    found: set[str] = set()

    def visit(node: ast.AST) -> None:
        if id(node) in kept:
            return
        if isinstance(node, ast.Name | ast.Attribute):
            found.update(names_read(node))
        for child in ast.iter_child_nodes(node):
            visit(child)

    visit(value)
    return found


def _kept_operands(
    value: ast.AST, is_carrier: Callable[[str], bool], scope: Scope
) -> Iterator[ast.AST]:
    """Yield the parts of a value that only retain the old value. What another function computes
    from it is new: `net(cat([old, x]))`.
    """
    todo = [value]
    while todo:
        node = todo.pop()
        inner = _passed_on(node)
        todo += inner
        if isinstance(node, ast.Call) and operation(node) in _KEEPING_CALLS:
            yield from (e for e in inner if is_carrier(spelled(whole(e))))
        if isinstance(node, ast.Call) and isinstance(node.func, ast.Attribute):
            if node.func.attr in _KEEPING_METHODS and is_carrier(spelled(whole(node.func.value))):
                yield node.func
        if isinstance(node, ast.BinOp) and is_average(node, is_carrier, scope):
            for side in (node.left, node.right):
                yield from (n for n in walk(side) if is_carrier(spelled(n)))


def _passed_on(node: ast.AST) -> list[ast.expr]:
    """Return the parts of an expression that its value contains unchanged or scaled."""
    match node:
        case ast.Call(func=function, args=arguments):
            keeping = arguments if operation(node) in _KEEPING_CALLS else []
            written = (a.elts if isinstance(a, ast.List | ast.Tuple) else [a] for a in keeping)
            owner = [function.value] if isinstance(function, ast.Attribute) else []
            return [*owner, *(part for parts in written for part in parts)]
        case ast.Subscript(value=part):
            return [part]
        case ast.BinOp(left=left, op=op, right=right) if not isinstance(op, ast.MatMult):
            return [left, right]
        case ast.IfExp(body=body, orelse=other):
            return [body, other]
        case ast.List(elts=parts) | ast.Tuple(elts=parts):
            return parts
    return []


@remembered
def taken_from(scope: Scope) -> dict[str, list[tuple[str, list[str]]]]:
    """Return the containers from which a scope takes entries, with each entry's spelling and its
    names; a loop names every entry.
    """
    found: dict[str, list[tuple[str, list[str]]]] = {}
    for node in walk_scope(scope):
        for target, source in taken_by(node) if isinstance(node, ast.For) else ():
            if is_dotted(source):
                entry = f"{spelled(source)}[:]"
                found.setdefault(spelled(source), []).append((entry, [*target_names(target)]))
        if isinstance(node, ast.Assign) and (into := container(node.value)):
            value = spelled(node.value)
            if value != into:
                found.setdefault(into, []).append((value, bindings(node)))
    return found


def queued(value: ast.expr, is_carrier: Callable[[str], bool], scope: Scope) -> bool:
    """Return True if the value is the old one with something appended: a queue made of tensors."""
    made = calls_of(
        value, "torch.Tensor.cat", "torch.Tensor.concat", "torch.Tensor.stack", "torch.Tensor.roll"
    )
    return bool(made) and any(True for _ in _kept_operands(value, is_carrier, scope))


def is_average(value: ast.AST, is_carrier: Callable[[str], bool], scope: Scope) -> bool:
    """Return True for `a * x + (1 - a) * y` with plain `a`, or `x + (y - x) / t`, where x is one of
    the names. If the scope computes `a` (`a = torch.sigmoid(…)`), it is a gate and not an average.
    """
    if not (isinstance(value, ast.BinOp) and isinstance(value.op, ast.Add)):
        return False
    if _moves_towards(value, is_carrier):
        return True
    sides = [value.left, value.right]
    if not all(isinstance(s, ast.BinOp) and isinstance(s.op, ast.Mult) for s in sides):
        return False
    factors = [_plain_factor(s) for s in sides if isinstance(s, ast.BinOp)]
    if None in factors or not any(is_carrier(name) for s in sides for name in names_read(s)):
        return False
    first, second = (f for f in factors if f is not None)
    if isinstance(first, ast.Constant) and isinstance(second, ast.Constant):
        pair = (first.value, second.value)
        return all(isinstance(v, float | int) for v in pair) and isclose(sum(pair), 1)  # type: ignore[arg-type]
    texts = {spelled(first), spelled(second)}
    return any(
        (f"1 - {t}" in texts or f"1.0 - {t}" in texts) and not _is_gate(t, scope) for t in texts
    )


def rate(average: ast.AST) -> str:
    """Return `a` if an average contains `1 - a`, else an empty string."""
    for node in walk(average):
        match node:
            case ast.BinOp(left=ast.Constant(), op=ast.Sub(), right=ast.Name() | ast.Attribute()):
                return spelled(node.right)
    return ""


def _is_gate(name: str, scope: Scope) -> bool:
    """Return True if the scope computes the name by a function of tensors or by a model."""
    calls = [
        node
        for statement in definitions(scope, name)
        for node in nodes_of(value_of(statement) or ast.Pass(), ast.Call)
    ]
    plain = {"math", "np", "numpy", *dir(builtins)}
    return any(spelled(call.func).partition(".")[0] not in plain for call in calls)


def _moves_towards(value: ast.BinOp, is_carrier: Callable[[str], bool]) -> bool:
    """Return True for `x + a * (y - x)`: a step from the old value towards another."""
    match value.right:
        case ast.BinOp(left=left, op=ast.Mult() | ast.Div(), right=right):
            way = [side for side in (left, right) if isinstance(side, ast.BinOp)]
            return is_carrier(spelled(value.left)) and any(
                isinstance(side.op, ast.Sub) and is_carrier(spelled(side.right)) for side in way
            )
    return False


def _plain_factor(product: ast.BinOp) -> ast.expr | None:
    for side in (product.left, product.right):
        if isinstance(side, ast.Constant):
            return side
    for side in (product.left, product.right):
        if isinstance(side, ast.BinOp) and isinstance(side.left, ast.Constant):
            return side
    for side in (product.left, product.right):
        if not any(isinstance(n, ast.Call) for n in walk(side)):
            return side
    return None


def interpolates(statement: ast.stmt, name: str) -> bool:
    """Return True if a statement moves a tensor of this name towards another one by `lerp`."""
    return any(
        isinstance(node, ast.Call) and is_call(node, "torch.Tensor.lerp") and name in spelled(node)
        for node in own_expressions(statement)
    )
