"""Statements that only report: what they say may be of something that could not be made up."""

from __future__ import annotations

import ast
import copy
import re
from collections.abc import Collection

from .uses import last_name

_REPORTING = re.compile(r"print|log|writer|wandb|report|show|bar$|tqdm|summary", re.IGNORECASE)
_DOING = frozenset({"backward", "step", "zero_grad", "append", "extend", "update"})
MAX_TEXT = 400  # characters of a statement by which it is known again


def report_in(tree: ast.Module, lines: tuple[int, int]) -> str:
    """The text of the statement on these lines, if it only reports; otherwise nothing."""
    for statement in ast.walk(tree):
        if isinstance(statement, ast.Expr) and statement.lineno == lines[0]:
            text = _text_of(statement)
            return text if _reports(statement.value) and len(text) <= MAX_TEXT else ""
    return ""


def without_reports(tree: ast.Module, texts: Collection[str]) -> ast.Module:
    """The text without the statements of these texts."""
    left = copy.deepcopy(tree)
    _Leaving(texts).visit(left)
    return left


class _Leaving(ast.NodeTransformer):
    """Puts `pass` where one of the texts stands."""

    def __init__(self, texts: Collection[str]) -> None:
        self._texts = texts

    def visit_Expr(self, node: ast.Expr) -> ast.stmt:
        return ast.copy_location(ast.Pass(), node) if _text_of(node) in self._texts else node


def _reports(value: ast.expr) -> bool:
    """Whether an expression calls something that reports, and nothing that does more."""
    if not isinstance(value, ast.Call):
        return False
    called = [last_name(part.func) for part in ast.walk(value) if isinstance(part, ast.Call)]
    return bool(_REPORTING.search(ast.unparse(value.func))) and _DOING.isdisjoint(called)


def _text_of(statement: ast.Expr) -> str:
    return ast.unparse(statement.value)
