"""Definitions that stand behind what uses them, as in a post that shows its loop first."""

from __future__ import annotations

import ast
from collections.abc import Iterable, Mapping

from .uses import FUNCTIONS

_DEFINING = (*FUNCTIONS, ast.ClassDef)


def defined_ahead(tree: ast.Module) -> ast.Module:
    """The text with every class and function in front of the first statement that needs it to run.
    Line numbers stay."""
    functions = {node.name: node for node in tree.body if isinstance(node, FUNCTIONS)}
    body = list(tree.body)
    for node in tree.body:
        if isinstance(node, _DEFINING):
            own = body.index(node)
            needing = (i for i in range(own) if node.name in _needed(body[i], functions))
            first = next(needing, own)
            if not any(node.name in _bound(other) for other in body[:own]):
                body.insert(first, body.pop(own))
    return ast.Module(body, tree.type_ignores)


def _needed(statement: ast.stmt, functions: Mapping[str, ast.stmt]) -> set[str]:
    """The names that a statement reads as it runs, and those that functions read which it names."""
    found = _read_at_once(statement)
    todo = [*found & functions.keys()]
    while todo:
        more = _names(ast.walk(functions[todo.pop()])) - found
        found |= more
        todo += more & functions.keys()
    return found


def _read_at_once(statement: ast.stmt) -> set[str]:
    """The names that a statement reads itself: a function those around its body alone."""
    match statement:
        case ast.FunctionDef() | ast.AsyncFunctionDef():
            around = [*statement.decorator_list, *statement.args.defaults]
            return {name for one in around for name in _names(ast.walk(one))}
        case ast.ClassDef():
            around = [*statement.decorator_list, *statement.bases]
            own = {name for one in around for name in _names(ast.walk(one))}
            return own.union(*map(_read_at_once, statement.body))
    return _names(ast.walk(statement))


def _names(nodes: Iterable[ast.AST]) -> set[str]:
    return {n.id for n in nodes if isinstance(n, ast.Name) and isinstance(n.ctx, ast.Load)}


def _bound(statement: ast.stmt) -> set[str]:
    """The names that a statement gives a value, or imports."""
    match statement:
        case ast.FunctionDef(name=name) | ast.AsyncFunctionDef(name=name) | ast.ClassDef(name=name):
            return {name}
        case ast.Import(names=names) | ast.ImportFrom(names=names):
            return {(one.asname or one.name).partition(".")[0] for one in names}
    stores = (node for node in ast.walk(statement) if isinstance(node, ast.Name))
    return {node.id for node in stores if isinstance(node.ctx, ast.Store)}
