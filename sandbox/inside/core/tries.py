"""Where a program goes on after an error: the `try` statements that catch it."""

from __future__ import annotations

import ast
from collections.abc import Iterator
from functools import lru_cache
from pathlib import Path

ANY = frozenset({"Exception", "BaseException"})
_LEAVING = {"exit", "quit", "_exit"}


def survives(filename: str, line: int, caught: frozenset[str]) -> bool:
    """Return True if the line stands in a `try` that goes on after one of these errors."""
    return any(first <= line <= last for first, last in _tries(filename, caught))


def syntax_of(filename: str) -> ast.AST:
    """Return the file's syntax; empty if it cannot be read."""
    try:
        return ast.parse(Path(filename).read_bytes())
    except (OSError, SyntaxError, ValueError, RecursionError):
        return ast.Module([], [])


@lru_cache(maxsize=256)
def _tries(filename: str, caught: frozenset[str]) -> list[tuple[int, int]]:
    """Return first and last lines of the bodies of `try` statements that survive such an error."""
    return list(_bodies(syntax_of(filename), caught))


def _bodies(tree: ast.AST, caught: frozenset[str]) -> Iterator[tuple[int, int]]:
    for node in ast.walk(tree):
        if isinstance(node, ast.Try) and any(_goes_on(h, caught) for h in node.handlers):
            yield node.body[0].lineno, node.body[-1].end_lineno or node.body[-1].lineno


def _goes_on(handler: ast.ExceptHandler, caught: frozenset[str]) -> bool:
    """Return True if a handler catches one of these errors, and neither raises nor ends the
    script."""
    kinds = handler.type.elts if isinstance(handler.type, ast.Tuple) else [handler.type]
    if not any(kind is None or getattr(kind, "id", "") in caught for kind in kinds):
        return False
    return not any(leaves(node) for node in ast.walk(handler))


def leaves(node: ast.AST) -> bool:
    """Return True for what raises, or ends the script."""
    if isinstance(node, ast.Call):
        called = node.func
        return getattr(called, "attr", getattr(called, "id", "")) in _LEAVING
    return isinstance(node, ast.Raise)
