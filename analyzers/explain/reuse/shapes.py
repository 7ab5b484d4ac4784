"""What kind of container a name holds, told by how the source uses it."""

from __future__ import annotations

import ast

from analyzers.source.project import Project, spelled
from analyzers.source.targets import assigned_pairs
from analyzers.source.trees import walk


def container_by_use(project: Project, name: str) -> str | None:
    """`tuple` or `list` where the name begins as one, is unpacked into several, or is handed on
    with a star; None where nothing tells."""
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
