"""Definitions that follow their use, as in a post that shows its loop first."""

from __future__ import annotations

import ast
from collections.abc import Iterable, Mapping

from .uses import FUNCTIONS, bound

_DEFINING = (*FUNCTIONS, ast.ClassDef)


def defined_ahead(tree: ast.Module) -> ast.Module:
    """Return the script with every class and function before the first statement that needs it.

    Line numbers stay.
    """
    functions = {node.name: node for node in tree.body if isinstance(node, FUNCTIONS)}
    body = list(tree.body)
    for node in tree.body:
        if isinstance(node, _DEFINING):
            own = body.index(node)
            needing = (i for i in range(own) if node.name in _needed(body[i], functions))
            first = next(needing, own)
            if node.name not in bound(body[:own]):
                body.insert(first, body.pop(own))
    return ast.Module(body, tree.type_ignores)


def _needed(statement: ast.stmt, functions: Mapping[str, ast.stmt]) -> set[str]:
    """Return the names that a statement reads as it runs, those of named functions included."""
    found = _read_at_once(statement)
    todo = [*found & functions.keys()]
    while todo:
        more = _names(ast.walk(functions[todo.pop()])) - found
        found |= more
        todo += more & functions.keys()
    return found


def _read_at_once(statement: ast.stmt) -> set[str]:
    """Return the names that a statement reads itself: a function those around its body alone."""
    if not isinstance(statement, _DEFINING):
        return _names(ast.walk(statement))
    around = (part for part in ast.iter_child_nodes(statement) if part not in statement.body)
    found = {name for part in around for name in _names(ast.walk(part))}
    inside = statement.body if isinstance(statement, ast.ClassDef) else []
    return found.union(*map(_read_at_once, inside))


def _names(nodes: Iterable[ast.AST]) -> set[str]:
    return {n.id for n in nodes if isinstance(n, ast.Name) and isinstance(n.ctx, ast.Load)}
