"""Walking syntax trees, quickly: analyses ask about the same few thousand nodes many times."""

from __future__ import annotations

import ast

_PLAIN = frozenset(
    {"arg", "asname", "attr", "conversion", "ctx", "id", "is_async", "kind", "level", "module"}
    | {"simple", "type_comment"}
)


_FIELDS: dict[type, tuple[str, ...]] = {}


def _fields(kind: type) -> tuple[str, ...]:
    """The fields that can hold nodes; whether a name is read or bound (`ctx`) is not one."""
    names: tuple[str, ...] = getattr(kind, "_fields", ())
    _FIELDS[kind] = fields = tuple(name for name in names if name not in _PLAIN)
    return fields


def children(node: ast.AST) -> list[ast.AST]:
    """The nodes straight below this one, in source order."""
    kind = type(node)
    found: list[ast.AST] = []
    for field in _FIELDS[kind] if kind in _FIELDS else _fields(kind):
        value = getattr(node, field, None)
        if isinstance(value, list):
            found += [item for item in value if isinstance(item, ast.AST)]
        elif isinstance(value, ast.AST):
            found.append(value)
    return found


def walk(node: ast.AST) -> list[ast.AST]:
    """The node and all below it, breadth first: outer nodes come before inner ones."""
    found = [node]
    for outer in found:
        found += children(outer)
    return found
