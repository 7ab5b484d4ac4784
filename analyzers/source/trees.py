"""Traverse syntax trees quickly: the analyses ask about the same few thousand nodes many times.

Trees never change after parsing, so results can be stored with their nodes.
"""

from __future__ import annotations

import ast
from collections.abc import Callable
from functools import wraps
from typing import TypeVar

_PLAIN = frozenset(
    {"arg", "asname", "attr", "conversion", "ctx", "id", "is_async", "kind", "level", "module"}
    | {"simple", "type_comment"}
)

N = TypeVar("N", bound=ast.AST)
T = TypeVar("T")


def remembered(question: Callable[[N], T]) -> Callable[[N], T]:
    """Cache a function of a node with the node. Callers share the result and must not modify it. It
    should not contain the node itself: a cyclic tree would have to wait for the garbage collector.
    """
    key = f"{question.__module__}.{question.__name__}"

    @wraps(question)
    def answer(node: N) -> T:
        kept = node.__dict__
        if key not in kept:
            kept[key] = question(node)
        known: T = kept[key]
        return known

    return answer


_FIELDS: dict[type, tuple[str, ...]] = {}


def _fields(kind: type) -> tuple[str, ...]:
    """Return the fields that can hold nodes; `ctx` is not one."""
    names: tuple[str, ...] = getattr(kind, "_fields", ())
    _FIELDS[kind] = fields = tuple(name for name in names if name not in _PLAIN)
    return fields


def position(node: ast.AST) -> tuple[int, int]:
    """Return where a node begins: its line and column."""
    return getattr(node, "lineno", 0), getattr(node, "col_offset", 0)


def end_of(node: ast.AST) -> tuple[int, int]:
    """Return where a node ends: its line and column."""
    return getattr(node, "end_lineno", 0), getattr(node, "end_col_offset", 0)


def children(node: ast.AST) -> list[ast.AST]:
    """Return the direct children of a node, in source order."""
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
    """Return the node and all below it, breadth first: outer nodes come before inner ones."""
    kept = isinstance(node, ast.stmt | ast.mod)
    return [node, *(_kept_below(node) if kept else below(node))]


def below(node: ast.AST) -> list[ast.AST]:
    """Return all nodes below a node, outer ones first, without caching: the
    tree may still change.
    """
    found = children(node)
    for outer in found:
        found += children(outer)
    return found


_kept_below = remembered(below)
