"""Runs parts of a script in an order of its own, as the cells of a notebook are run.

The parts are compiled as one module: every line keeps its number, and all of them run in one
frame, so that whoever watches sees one line that ran twice rather than two scripts.
"""

from __future__ import annotations

import ast
from collections.abc import Sequence
from types import CodeType

Span = Sequence[int]  # first and last line, both from 1


def in_order(source: bytes | ast.Module, path: str, spans: Sequence[Span]) -> CodeType:
    """Return the statements of each span, in the order of the spans; a span may come more than
    once.

    Raise `SyntaxError` if the source is not Python.
    """
    tree = ast.parse(source, path)
    body = [
        statement
        for first, last in spans
        for statement in tree.body
        if _within(statement, first, last)
    ]
    body.sort(key=lambda statement: not _is_future(statement))  # they have to come first
    return compile(ast.Module(body, []), path, "exec", dont_inherit=True)


def _within(statement: ast.stmt, first: int, last: int) -> bool:
    return first <= statement.lineno <= last


def _is_future(statement: ast.stmt) -> bool:
    return isinstance(statement, ast.ImportFrom) and statement.module == "__future__"
