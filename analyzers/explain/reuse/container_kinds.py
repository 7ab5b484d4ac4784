"""Infer the kind of container that a name holds from its uses in the source."""

from __future__ import annotations

import ast

from analyzers.source.project import Project, spelled
from analyzers.source.targets import assigned_pairs
from analyzers.source.trees import walk


def container_by_use(project: Project, name: str) -> str | None:
    """Return `tuple` or `list` if the name is initialised as one, unpacked, or passed with a star;
    None if no use shows it.
    """
    for module in project.modules.values():
        for node in walk(module.tree):
            if isinstance(node, ast.Starred) and isinstance(node.ctx, ast.Load):
                if spelled(node.value) == name:
                    return "tuple"
            for target, value in assigned_pairs(node):
                if isinstance(target, ast.Tuple) and spelled(value) == name:
                    return "tuple"
                if spelled(target) == name and (kind := _literal(value)) is not None:
                    return kind
    return None


def _literal(value: ast.expr) -> str | None:
    match value:
        case ast.Tuple() | ast.Call(func=ast.Name(id="tuple")):
            return "tuple"
        case ast.List() | ast.ListComp() | ast.Call(func=ast.Name(id="list")):
            return "list"
    return None
