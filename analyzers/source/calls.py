"""Find calls in source, by their names."""

from __future__ import annotations

import ast
from collections.abc import Sequence

from analyzers.source.flow import called_name, names_read
from analyzers.source.project import Module, Project, spelled
from analyzers.source.receivers import steps_optimizer
from analyzers.source.targets import assigned_pairs
from analyzers.source.trees import remembered, walk
from analyzers.source.writes import unsliced, writes_in_place


def calls_named(node: ast.AST, *names: str) -> list[ast.Call]:
    """Return calls of these names, in source order."""
    if isinstance(node, ast.stmt | ast.mod):
        known = calls_in(node)
        found = [call for name in set(names) for call in known.get(name, ())]
    else:
        found = [n for n in walk(node) if isinstance(n, ast.Call) and called_name(n) in names]
    return sorted(found, key=lambda call: (call.lineno, call.col_offset))


def call_in(statement: ast.stmt | None, line: int, *names: str) -> ast.Call | None:
    """Return the call of one of these names in a statement, preferably one that spans the line."""
    if statement is None:
        return None
    calls = calls_named(statement, *names)
    around = [c for c in calls if c.lineno <= line <= (c.end_lineno or c.lineno)]
    return next(iter(around or calls), None)


def owners(node: ast.AST, *methods: str) -> set[str]:
    """Return what methods of these names are called on: `optimizer` for `optimizer.step()`."""
    calls = calls_named(node, *methods)
    return {spelled(call.func.value) for call in calls if isinstance(call.func, ast.Attribute)}


@remembered
def calls_in(tree: ast.stmt | ast.mod) -> dict[str, list[ast.Call]]:
    """Return the calls of a file or a statement by the last part of the called path."""
    found: dict[str, list[ast.Call]] = {}
    for node in walk(tree):
        if isinstance(node, ast.Call):
            found.setdefault(called_name(node), []).append(node)
    return found


def calls_to(project: Project, name: str) -> list[tuple[Module, ast.Call]]:
    """Return the calls of this name (the last part of a path or all of it) in all modules."""
    return [
        (module, call)
        for module in project.modules.values()
        for call in calls_in(module.tree).get(name, ())
    ]


def calls_a_class(module: Module, call: ast.Call) -> bool:
    """Return True if a call constructs an object, judged by a capital letter, unless the callee is
    itself the result of a call (`G = Generator()`).
    """
    capital = called_name(call)[:1].isupper()
    return capital and spelled(call.func) not in _made_by_calls(module.tree)


@remembered
def _made_by_calls(tree: ast.Module) -> set[str]:
    """Return the targets that a file binds to results of calls, except calls
    that create classes.
    """
    return {
        spelled(target)
        for statement in walk(tree)
        for target, value in assigned_pairs(statement)
        if isinstance(value, ast.Call) and "tuple" not in called_name(value).lower()
    }


def argument_for(call: ast.Call, parameters: Sequence[str], name: str) -> ast.expr | None:
    """Return the argument that a call passes for a parameter, by keyword or by position."""
    for keyword in call.keywords:
        if keyword.arg == name:
            return keyword.value
    place = parameters.index(name)
    return call.args[place] if place < len(call.args) else None


def asks_for_gradient(call: ast.Call) -> bool:
    """Return True if a call sets whether its tensor requires a gradient."""
    is_method = called_name(call) == "requires_grad_"
    return is_method or any(keyword.arg == "requires_grad" for keyword in call.keywords)


def makes_leaf(value: ast.expr) -> bool:
    """Return True if a value is created as a leaf: a parameter, or a tensor
    with `requires_grad`.
    """
    calls = (node for node in walk(value) if isinstance(node, ast.Call))
    return any(called_name(call) == "Parameter" or asks_for_gradient(call) for call in calls)


def reads_gradient(node: ast.AST) -> bool:
    """Return True if a `.grad` occurs in a tree."""
    return any(isinstance(inner, ast.Attribute) and inner.attr == "grad" for inner in walk(node))


def steps(node: ast.AST) -> list[ast.Call]:
    """Return calls that may be an optimizer's step (`opt.step()`, `scaler.step(opt)`)."""
    return [
        call
        for call in calls_named(node, "step")
        if isinstance(call.func, ast.Attribute) and steps_optimizer(call)
    ]


def updates_by_hand(node: ast.AST) -> list[ast.stmt]:
    """Return the statements that write a step against its gradient to a weight (`p -= lr * p.grad`,
    `p.data.sub_(lr * p.grad)`, `p.value = p.value - rate * p.grad`).
    """
    return [s for s in walk(node) if isinstance(s, ast.stmt) and _is_update(s)]


def _is_update(statement: ast.stmt) -> bool:
    match statement:
        case ast.AugAssign(op=ast.Add() | ast.Sub(), target=target, value=value):
            return _by_gradient(target, value)
        case ast.Assign(targets=[target], value=ast.BinOp(op=ast.Add() | ast.Sub()) as value):
            own = spelled(unsliced(target)) in names_read(value)
            return own and _by_gradient(target, value)
        case ast.Expr(value=ast.Call(func=ast.Attribute(value=target, attr=attr)) as call):
            return writes_in_place(attr) and any(_by_gradient(target, a) for a in call.args)
    return False


def _by_gradient(target: ast.expr, value: ast.expr) -> bool:
    """Return True if a value contains the gradient of its target."""
    if reads_gradient(target):
        return False  # gradients that are added up, or clipped
    root = spelled(unsliced(target)).partition(".")[0]
    return any(
        isinstance(n, ast.Attribute)
        and n.attr == "grad"
        and spelled(n.value).partition(".")[0] == root
        for n in walk(value)
    )
