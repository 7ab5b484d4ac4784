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

_OF_NODES = frozenset({"body", "args", "targets", "elts", "keywords", "orelse", "ops", "values"})
"""Lists of nodes alone: no `None`, no names."""

_OF_BLOCKS = frozenset({"body", "orelse", "finalbody", "handlers", "cases"})
"""Lists of statements, or of what holds these."""

_KEPT = (ast.stmt, ast.mod)  # of which it is known what is below them

N = TypeVar("N")
T = TypeVar("T")
K = TypeVar("K", bound=ast.AST)


def remembered(question: Callable[[N], T]) -> Callable[[N], T]:
    """Cache a function of a node, or of what is known of one, with its argument. Callers share the
    result and must not modify it. It should not contain the node itself: a cyclic tree would have
    to wait for the garbage collector.
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


class _Fields(dict[type, tuple[str, ...]]):
    """By the class of a node: the fields that can hold nodes; `ctx` is not one."""

    def __missing__(self, kind: type) -> tuple[str, ...]:
        names: tuple[str, ...] = () if kind is ast.Constant else getattr(kind, "_fields", ())
        self[kind] = fields = tuple(name for name in names if name not in _PLAIN)
        return fields


FIELDS = _Fields()


def position(node: ast.AST) -> tuple[int, int]:
    """Return where a node begins: its line and column."""
    return getattr(node, "lineno", 0), getattr(node, "col_offset", 0)


def end_of(node: ast.AST) -> tuple[int, int]:
    """Return where a node ends: its line and column."""
    return getattr(node, "end_lineno", 0), getattr(node, "end_col_offset", 0)


def whole(node: ast.expr) -> ast.expr:
    """Return what an index takes a part of."""
    while isinstance(node, ast.Subscript):
        node = node.value
    return node


@remembered
def children(node: ast.AST) -> list[ast.AST]:
    """Return the direct children of a node, in source order."""
    return _children(node)


def _children(node: ast.AST) -> list[ast.AST]:
    found: list[ast.AST] = []
    held = node.__dict__
    for field in FIELDS[type(node)]:
        value = held.get(field)
        if value is None:
            continue
        if type(value) is list:
            found += value if field in _OF_NODES else [v for v in value if isinstance(v, ast.AST)]
        elif isinstance(value, ast.AST):
            found.append(value)
    return found


def walk(node: ast.AST) -> list[ast.AST]:
    """Return the node and all below it, breadth first: outer nodes come before inner ones."""
    return [node, *(_kept_below(node) if isinstance(node, _KEPT) else _below(node, children))]


def nodes_of(node: ast.AST, *kinds: type[K]) -> list[K]:
    """Return those of the node and all below it that are of one of these classes, outer ones
    first.
    """
    return [inner for inner in walk(node) if isinstance(inner, kinds)]


def below(node: ast.AST) -> list[ast.AST]:
    """Return all nodes below a node, outer ones first, without caching: the
    tree may still change.
    """
    return _below(node, _children)


def _below(node: ast.AST, inner: Callable[[ast.AST], list[ast.AST]]) -> list[ast.AST]:
    found = list(inner(node))
    for outer in found:
        if FIELDS[type(outer)]:
            found += inner(outer)
    return found


@remembered
def _kept_below(node: ast.AST) -> list[ast.AST]:
    return _below(node, children)


class _BlockFields(dict[type, tuple[str, ...]]):
    """By the class of a statement: the fields that hold statements, or what holds them."""

    def __missing__(self, kind: type) -> tuple[str, ...]:
        names: tuple[str, ...] = getattr(kind, "_fields", ())
        self[kind] = fields = tuple(name for name in names if name in _OF_BLOCKS)
        return fields


_BLOCK_FIELDS = _BlockFields()


def statements(node: ast.stmt | ast.mod) -> list[ast.AST]:
    """Return the node and all statements below it, outer ones first, and what holds these: handlers
    of errors and cases of matches. Expressions are not visited.
    """
    found: list[ast.AST] = [node]
    for outer in found:
        for field in _BLOCK_FIELDS[type(outer)]:
            found += getattr(outer, field)
    return found
