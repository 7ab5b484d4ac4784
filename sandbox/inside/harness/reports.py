"""Statements that only report, perhaps about something that cannot be synthesized."""

from __future__ import annotations

import ast
import copy
import re
from collections.abc import Collection

from .uses import last_name

_WORDS = frozenset(  # of what shows, or writes down, and gives nothing back
    {"print", "log", "logs", "logger", "logging", "report", "show", "display", "summary", "writer"}
    | {"info", "debug", "warning", "wandb", "mlflow", "tensorboard", "tqdm", "bar", "pbar"}
)
_DOING = frozenset({"backward", "step", "zero_grad", "append", "extend", "update"})
MAX_TEXT = 400  # characters of a statement by which it is known again


def report_of(statement: ast.stmt | None) -> str:
    """Return the source of a statement if it only reports, else ''."""
    if not isinstance(statement, ast.Expr) or not isinstance(statement.value, ast.Call):
        return ""
    words = re.split(r"[\W_]+", ast.unparse(statement.value.func).lower())
    text = ast.unparse(statement.value)
    reports = not _WORDS.isdisjoint(words) and not _does_more(statement.value)
    return text if reports and len(text) <= MAX_TEXT else ""


def _does_more(value: ast.expr) -> bool:
    """Return True if something is trained, stored, written in place or bound on the way."""
    called = [last_name(part.func) for part in ast.walk(value) if isinstance(part, ast.Call)]
    named = any(isinstance(part, ast.NamedExpr) for part in ast.walk(value))
    return named or any(name in _DOING or name.endswith("_") for name in called)


def without_reports(tree: ast.Module, texts: Collection[str]) -> ast.Module:
    """Return the script without the statements of these sources."""
    left = copy.deepcopy(tree)
    _Leaving(texts).visit(left)
    return left


class _Leaving(ast.NodeTransformer):
    """Puts `pass` where one of the texts stands."""

    def __init__(self, texts: Collection[str]) -> None:
        self._texts = texts

    def visit_Expr(self, node: ast.Expr) -> ast.stmt:
        text = ast.unparse(node.value)
        return ast.copy_location(ast.Pass(), node) if text in self._texts else node
