"""Detached parts of a comparison or a sum: what a loss takes as constant, and what it trains."""

from __future__ import annotations

import ast

from analyzers.advice.looking import last_name, short
from analyzers.source.flow import value_of
from analyzers.source.project import Module, spelled

_COMPARES = ("loss", "crit", "recon", "mse", "l1", "dist", "simil", "cosine", "kl_div")


def detached_reference(node: ast.AST, module: Module) -> str | None:
    """Match the detached one of two values that a loss compares: `criterion(code, other.detach())`,
    or `abs(fake - other)` below `other = other.detach()`."""
    match node:
        case ast.Call(func=func, args=[ast.expr() as left, ast.expr() as right, *_]):
            name = (last_name(func) or "").lower()
            if not any(part in name for part in _COMPARES):
                return None
        case ast.BinOp(op=ast.Sub(), left=left, right=right):
            if not _is_compared(node, module):
                return None
        case _:
            return None
    cut = [side for side in (left, right) if _is_detached(side, module)]
    return short(cut[0]) if len(cut) == 1 and not _same(left, right) else None


def straight_through(node: ast.AST, module: Module) -> str | None:
    """Match `soft + (hard - soft).detach()`, in either order, also through `.data`."""
    match node:
        case ast.BinOp(op=ast.Add(), left=left, right=right):
            for cut, kept in ((left, right), (right, left)):
                inner = _inside_detach(cut)
                if isinstance(inner, ast.BinOp) and isinstance(inner.op, ast.Sub):
                    if spelled(inner.right) == spelled(kept):
                        return short(node)
    return None


def scaled_addition(node: ast.AST, module: Module) -> str | None:
    """Match `x.add_(factor, tensor)`, the old form of `x.add_(tensor, alpha=factor)`."""
    match node:
        case ast.Call(func=ast.Attribute(attr="add_" | "sub_"), args=[_, _], keywords=[]):
            return short(node)
    return None


def _is_compared(node: ast.AST, module: Module) -> bool:
    """Return True if a difference is squared, or taken by its size."""
    parent = module.parents.get(node)
    match parent:
        case ast.Call(func=func):
            return last_name(func) in ("abs", "norm", "square")
        case ast.BinOp(op=ast.Pow()):
            return True
        case ast.Attribute(attr="abs" | "pow" | "square" | "norm"):
            return True
    return False


def _is_detached(value: ast.expr, module: Module) -> bool:
    if _inside_detach(value) is not None:
        return True
    if not isinstance(value, ast.Name):
        return False
    above = [
        statement
        for statement in module.each(ast.Assign)
        if statement.lineno < value.lineno and value.id in map(spelled, statement.targets)
    ]
    made = value_of(above[-1]) if above else None
    return made is not None and _inside_detach(made) is not None


def _inside_detach(value: ast.expr) -> ast.expr | None:
    match value:
        case ast.Call(func=ast.Attribute(value=inner, attr="detach"), args=[]):
            return inner
        case ast.Attribute(value=inner, attr="data"):
            return inner
    return None


def _same(left: ast.expr, right: ast.expr) -> bool:
    """Return True for `x - x.detach()`."""
    return spelled(_inside_detach(left) or left) == spelled(_inside_detach(right) or right)
