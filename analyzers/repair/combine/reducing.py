"""Fixes for a backward from several values: one number out of them."""

from __future__ import annotations

import ast
from collections.abc import Iterator

from analyzers.explain.pattern import Proposal
from analyzers.explain.spots import Spot
from analyzers.source.edits import Edit
from analyzers.source.flow import WALKS, called_name, definitions, value_of, walked
from analyzers.source.trees import position, walk


def reduced(where: Spot) -> Iterator[Proposal]:
    """For a loss: its mean, its sum. For a derivative: the sum, which is exact."""
    call = where.call(*WALKS)
    tensor = walked(call) if call is not None else None
    if call is None or tensor is None:
        return
    if called_name(call) == "grad":
        yield from _derivative(where, tensor)
        return
    for rank, method in enumerate(_conventions(where)):
        title = f"Call backward on the {method} of the loss"
        edit = _at_definition(where, tensor, method) or where.editor.append_to(
            tensor, f".{method}()"
        )
        tradeoff = "`mean` and `sum` differ by a factor, which the learning rate feels."
        yield Proposal(f"reduce-{method}", title, (edit,), tradeoff, rank)


def _derivative(where: Spot, tensor: ast.expr) -> Iterator[Proposal]:
    title = f"Ask for the derivative of `{where.editor.text_of(tensor)}.sum()`"
    edit = where.editor.append_to(tensor, ".sum()")
    yield Proposal("reduce-sum", title, (edit,), "", 0)


def _conventions(where: Spot) -> list[str]:
    """`mean` and `sum`, the one that the script uses for its losses first."""
    means = sums = 0
    for node in walk(where.module.tree):
        if isinstance(node, ast.Call) and isinstance(node.func, ast.Attribute):
            means += node.func.attr == "mean"
            sums += node.func.attr == "sum" and not node.args
    return ["sum", "mean"] if sums > means else ["mean", "sum"]


def _at_definition(where: Spot, tensor: ast.expr, method: str) -> Edit | None:
    """The reduction where the walked name gets its value, so that what is logged is one number
    too."""
    if not isinstance(tensor, ast.Name):
        return None
    before = [
        s
        for s in definitions(where.scope, tensor.id)
        if position(s) < position(where.statement) and isinstance(s, ast.Assign)
    ]
    value = value_of(before[-1]) if before else None
    if value is None or not isinstance(before[-1], ast.Assign):
        return None
    single = len(before[-1].targets) == 1 and isinstance(before[-1].targets[0], ast.Name)
    return where.editor.append_to(value, f".{method}()") if single else None
