"""Statements that call no backward: what they compute, and what of it may be a loss."""

from __future__ import annotations

import ast
from collections.abc import Iterator
from typing import Any

import torch

from .entries import Definition, calls_backward
from .uses import FUNCTIONS

RETURNED = "__returned__"


class _Binding(ast.NodeTransformer):
    """Makes `return h` outside of any function a binding."""

    def visit_Return(self, node: ast.Return) -> ast.stmt:
        target = ast.Name(RETURNED, ast.Store())
        value = node.value or ast.Constant(None)
        made = ast.copy_location(ast.Assign([target], value), node)
        return ast.fix_missing_locations(made)

    def visit_FunctionDef(self, node: ast.FunctionDef) -> ast.stmt:
        return node

    def visit_AsyncFunctionDef(self, node: ast.AsyncFunctionDef) -> ast.stmt:
        return node

    def visit_Lambda(self, node: ast.Lambda) -> ast.expr:
        return node


def body_alone(tree: ast.Module) -> ast.Module:
    """Return the script with what it returns outside of any function as a value of its own."""
    bound: ast.Module = _Binding().visit(tree)
    return bound


def computes_alone(tree: ast.Module) -> bool:
    """Return True for statements of which nothing calls backward, and next to no definition."""
    defined = (*FUNCTIONS, ast.ClassDef)
    return not calls_backward(tree) and not any(isinstance(node, defined) for node in tree.body)


def last_result(tree: ast.Module, names: dict[str, Any]) -> tuple[torch.Tensor, int] | None:
    """Return what the statements compute last that has a graph, with its line; None if nothing
    has."""
    bound = [
        (node.lineno, part.id)
        for node in ast.walk(tree)
        if isinstance(node, ast.Assign | ast.AugAssign | ast.AnnAssign)
        for part in ast.walk(node)
        if isinstance(part, ast.Name) and isinstance(part.ctx, ast.Store)
    ]
    for line, name in sorted(bound, reverse=True):
        loss = loss_in(names.get(name))
        if loss is not None and loss.grad_fn is not None:
            return loss, line
    return None


def is_loss(node: Definition, tree: ast.Module) -> bool:
    """Return True if a function, or the class that it is a method of, is a loss by its name."""
    around = (n.name for n in tree.body if isinstance(n, ast.ClassDef) and node in n.body)
    return any("loss" in name.lower() for name in (node.name, *around))


def loss_in(result: Any) -> torch.Tensor | None:
    """Return the loss that a function returned: by itself, first among others, or under its
    name."""
    if isinstance(result, dict):
        result = result.get("loss", next(iter(result.values()), None))
    for part in _flat(result):
        if isinstance(part, torch.Tensor) and (part.requires_grad or not isinstance(result, tuple)):
            return part
    return None


def _flat(value: Any) -> Iterator[Any]:
    if isinstance(value, list | tuple):
        for part in value:
            yield from _flat(part)
    else:
        yield value
