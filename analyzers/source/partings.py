"""A tensor that is taken apart by one call, and what puts its parts together again."""

from __future__ import annotations

import ast
from dataclasses import dataclass

from analyzers.source.flow import called_name
from analyzers.source.ops import MULTI_VIEWS
from analyzers.source.project import spelled

# `hsplit` and its like name no dimension.
_ALONG_DIM = MULTI_VIEWS - {"hsplit", "vsplit", "dsplit"}


@dataclass(frozen=True)
class Parting:
    """`whole` in `x.unbind(dim=1)` or `torch.split(x, 4)`; `joint` joins its parts along `dim`
    (the first dimension where none is written)."""

    whole: ast.expr
    joint: str
    dim: ast.expr | None = None


def parting(node: ast.expr) -> Parting | None:
    """What an expression takes apart; None for one that takes no tensor apart."""
    if not isinstance(node, ast.Call) or called_name(node) not in _ALONG_DIM:
        return None
    given = list(node.args)
    if isinstance(node.func, ast.Attribute) and spelled(node.func.value) != "torch":
        given.insert(0, node.func.value)
    if not given:
        return None
    alone = called_name(node) == "unbind"
    named = next((keyword.value for keyword in node.keywords if keyword.arg == "dim"), None)
    placed = given[1:] if alone else given[2:]  # the others are told a size or a number of parts
    return Parting(given[0], "stack" if alone else "cat", named or next(iter(placed), None))


def whole_of(node: ast.expr) -> ast.expr:
    """The tensor that an expression takes apart: of `keys.unbind(0)` `keys`; else itself."""
    while (taken := parting(node)) is not None:
        node = taken.whole
    return node
