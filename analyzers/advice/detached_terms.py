"""Detached parts of a comparison or a sum: what a loss takes as constant, and what it trains."""

from __future__ import annotations

import ast

from analyzers.advice.looking import last_name, requires_grad, short
from analyzers.source.callees import is_call
from analyzers.source.flow import value_of
from analyzers.source.project import Module, spelled
from analyzers.source.recording import recorded
from analyzers.source.targets import assigned

_SIZES = ("abs", "norm", "square", "pow")
_COMPARES = ("loss", "crit", "recon", "mse", "l1", "dist", "simil", "cosine", "kl_div")


def detached_reference(node: ast.AST, module: Module) -> str | None:
    """Match the detached one of two values that a loss compares: `criterion(code, other.detach())`,
    or `abs(fake - other)` below `other = other.detach()`."""
    match node:
        case ast.Call(func=func, args=[ast.expr() as left, ast.expr() as right, *_]):
            name = (last_name(func) or "").lower()
            if not any(part in name for part in _COMPARES):
                return None
            if any(isinstance(s, ast.Constant | ast.JoinedStr) for s in (left, right)):
                return None  # `log_loss("train", loss.detach())`
        case ast.BinOp(op=ast.Sub(), left=left, right=right):
            if not _is_compared(node, module):
                return None
        case _:
            return None
    cut = [side for side in (left, right) if _is_detached(side, module)]
    return short(cut[0]) if len(cut) == 1 and not _same(left, right) else None


def straight_through(node: ast.AST, module: Module) -> str | None:
    """Match `soft + (hard - soft).detach()`, in either order."""
    match node:
        case ast.BinOp(op=ast.Add(), left=left, right=right):
            for cut, kept in ((left, right), (right, left)):
                inner = _inside_detach(cut)
                if isinstance(inner, ast.BinOp) and isinstance(inner.op, ast.Sub):
                    if spelled(inner.right) == spelled(kept):
                        return short(node)
    return None


def flagged_output(node: ast.AST, module: Module) -> str | None:
    """Match `out.requires_grad_()` of what a call under `no_grad` returned."""
    name = requires_grad(True)(node, module)
    owner = name.rpartition(".")[0] if name is not None else ""
    for made in module.each(ast.Assign) if owner else ():
        if isinstance(made.value, ast.Call) and owner in assigned(made):
            if not recorded(module, made):
                return owner
    return None


def scaled_addition(node: ast.AST, module: Module) -> str | None:
    """Match `x.add_(factor, tensor)`, the old form of `x.add_(tensor, alpha=factor)`."""
    if not isinstance(node, ast.Call) or not is_call(
        node, "torch.Tensor.add_", "torch.Tensor.sub_"
    ):
        return None
    return short(node) if len(node.args) == 2 and not node.keywords else None


def _is_compared(node: ast.AST, module: Module) -> bool:
    """Return True if a difference is squared, or taken by its size."""
    parent = module.parents.get(node)
    if isinstance(parent, ast.Attribute):  # `(a - b).abs()`
        parent = module.parents.get(parent)
    if isinstance(parent, ast.Call):
        return is_call(parent, *(f"torch.Tensor.{name}" for name in _SIZES))
    return isinstance(parent, ast.BinOp) and isinstance(parent.op, ast.Pow)


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
    if isinstance(value, ast.Call) and isinstance(value.func, ast.Attribute):
        return value.func.value if is_call(value, "torch.Tensor.detach") else None
    return None


def _same(left: ast.expr, right: ast.expr) -> bool:
    """Return True for `x - x.detach()`."""
    return spelled(_inside_detach(left) or left) == spelled(_inside_detach(right) or right)
