"""Find calls that split a tensor, and those that join its parts again."""

from __future__ import annotations

import ast
from dataclasses import dataclass

from analyzers.source.callees import is_call, keyword, operation
from analyzers.source.ops import MULTI_VIEWS
from analyzers.source.project import spelled

# `hsplit` and its like name no dimension.
_ALONG_DIM = MULTI_VIEWS - {"hsplit", "vsplit", "dsplit"}


@dataclass(frozen=True)
class Unpacking:
    """`whole` in `x.unbind(dim=1)` or `torch.split(x, 4)`; `joint` joins its parts along `dim`
    (the first dimension where none is written)."""

    whole: ast.expr
    joint: str
    dim: ast.expr | None = None


def unpacking(node: ast.expr) -> Unpacking | None:
    """Return what an expression splits; None if it splits no tensor."""
    if not isinstance(node, ast.Call) or operation(node) not in _ALONG_DIM:
        return None
    given = list(node.args)
    if isinstance(node.func, ast.Attribute) and spelled(node.func.value) != "torch":
        given.insert(0, node.func.value)
    if not given:
        return None
    alone = is_call(node, "torch.Tensor.unbind")
    named = keyword(node, "dim")
    placed = given[1:] if alone else given[2:]  # the others take a size or a number of parts
    return Unpacking(given[0], "stack" if alone else "cat", named or next(iter(placed), None))


def whole_of(node: ast.expr) -> ast.expr:
    """Return the tensor that an expression splits (`keys` for `keys.unbind(0)`), else the
    expression.
    """
    while (taken := unpacking(node)) is not None:
        node = taken.whole
    return node
