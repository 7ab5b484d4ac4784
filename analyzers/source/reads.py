"""Find where plain names, attributes and paths are read."""

from __future__ import annotations

import ast
from collections.abc import Iterable

from analyzers.source.flow import walk_scope
from analyzers.source.project import spelled
from analyzers.source.trees import end_of, position


def names_loaded(nodes: Iterable[ast.AST], *names: str) -> list[ast.Name]:
    """Return the nodes that read one of these plain names."""
    found = (node for node in nodes if isinstance(node, ast.Name) and node.id in names)
    return [node for node in found if isinstance(node.ctx, ast.Load)]


def attributes_loaded(nodes: Iterable[ast.AST], *names: str) -> list[ast.Attribute]:
    """Return the nodes that read an attribute of one of these names, of any object."""
    found = (node for node in nodes if isinstance(node, ast.Attribute) and node.attr in names)
    return [node for node in found if isinstance(node.ctx, ast.Load)]


def reads_after(scope: ast.AST, statement: ast.stmt, path: str) -> list[ast.Name | ast.Attribute]:
    """Return where a scope reads a name or a dotted path after a statement."""
    return [
        node
        for node in walk_scope(scope)
        if isinstance(node, ast.Name | ast.Attribute)
        and isinstance(node.ctx, ast.Load)
        and position(node) > end_of(statement)
        and spelled(node) == path
    ]
