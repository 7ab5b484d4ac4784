"""Infer the kind of container that a name holds from its uses in the source."""

from __future__ import annotations

import ast

from analyzers.source.project import Project, spelled
from analyzers.source.targets import assigned_pairs
from analyzers.source.trees import remembered, walk


def container_by_use(project: Project, name: str) -> str | None:
    """Return `tuple` or `list` if the name is initialised as one, unpacked, or passed with a star;
    None if no use shows it.
    """
    kinds = (_kinds(module.tree) for module in project.modules.values())
    return next((known[name] for known in kinds if name in known), None)


@remembered
def _kinds(tree: ast.Module) -> dict[str, str]:
    """Return what the first use of each name that shows a kind shows."""
    known: dict[str, str] = {}
    for node in walk(tree):
        if isinstance(node, ast.Starred) and isinstance(node.ctx, ast.Load):
            known.setdefault(spelled(node.value), "tuple")
        for target, value in assigned_pairs(node):
            if isinstance(target, ast.Tuple):
                known.setdefault(spelled(value), "tuple")
            if (kind := _literal(value)) is not None:
                known.setdefault(spelled(target), kind)
    return known


def _literal(value: ast.expr) -> str | None:
    match value:
        case ast.Tuple() | ast.Call(func=ast.Name(id="tuple")):
            return "tuple"
        case ast.List() | ast.ListComp() | ast.Call(func=ast.Name(id="list")):
            return "list"
    return None
