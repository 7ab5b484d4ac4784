"""Runs a script as another interpreter might: sets of strings have another order there.

Python seeds the hashes of strings at random by default; a sandbox fixes the seed, and its runs
share one order. A script that trains in the order of a set does not repeat itself elsewhere.
"""

from __future__ import annotations

import ast
from types import CodeType
from typing import Any

NAME = "__gradmend_in_another_order__"
_TAKING = {
    "list",
    "tuple",
    "enumerate",
    "zip",
    "iter",
    "map",
    "filter",
    "dict",
    "deque",
    "reversed",
}


def compiled(source: bytes | str, path: str) -> CodeType:
    """Return the script's code, with iteration over sets of strings reversed.

    It calls `in_another_order` by `NAME`. Raise what `ast.parse` and `compile` raise.
    """
    tree = ast.fix_missing_locations(_Reversing().visit(ast.parse(source, path)))
    return compile(tree, path, "exec", dont_inherit=True)


def in_another_order(value: Any) -> Any:
    """Return a set whose order depends on string hashes reversed, any other value as it is."""
    if type(value) not in (set, frozenset) or not any(isinstance(x, str | bytes) for x in value):
        return value
    return list(value)[::-1]


class _Reversing(ast.NodeTransformer):
    """Wraps every expression that is iterated over."""

    def visit_For(self, node: ast.For) -> ast.AST:
        self.generic_visit(node)
        node.iter = _wrapped(node.iter)
        return node

    def visit_comprehension(self, node: ast.comprehension) -> ast.AST:
        self.generic_visit(node)
        node.iter = _wrapped(node.iter)
        return node

    def visit_Call(self, node: ast.Call) -> ast.AST:
        self.generic_visit(node)
        called = node.func.id if isinstance(node.func, ast.Name) else ""
        joins = isinstance(node.func, ast.Attribute) and node.func.attr == "join"
        if called in _TAKING or joins:
            node.args = [
                one if isinstance(one, ast.Starred) else _wrapped(one) for one in node.args
            ]
        return node

    def visit_Starred(self, node: ast.Starred) -> ast.AST:
        self.generic_visit(node)
        if isinstance(node.ctx, ast.Load):
            node.value = _wrapped(node.value)
        return node


def _wrapped(expression: ast.expr) -> ast.expr:
    call = ast.Call(func=ast.Name(id=NAME, ctx=ast.Load()), args=[expression], keywords=[])
    return ast.copy_location(call, expression)
