"""Functions that are given to a transform: named looks."""

from __future__ import annotations

import ast

from analyzers.advice.looking import last_name, short
from analyzers.source.callees import keyword
from analyzers.source.project import Module
from analyzers.source.trees import nodes_of

_TRANSFORMS = frozenset(
    {"hessian", "jacobian", "hvp", "vhp", "jvp", "vjp", "jacrev", "jacfwd", "grad_and_value"}
)


def argument_unread(node: ast.AST, module: Module) -> str | None:
    """Match `hessian(f, weight)` where `f` reads none of its arguments."""
    if not isinstance(node, ast.Call) or last_name(node.func) not in _TRANSFORMS or not node.args:
        return None
    given = node.args[0]
    if isinstance(given, ast.Lambda):
        return None if _reads(given) else "lambda"
    if not isinstance(given, ast.Name):
        return None
    functions = [f for f in module.each(ast.FunctionDef) if f.name == given.id]
    return given.id if functions and not any(map(_reads, functions)) else None


def functional_without_graph(node: ast.AST, module: Module) -> str | None:
    """Match `torch.autograd.functional.jacobian(f, x)` without `create_graph=True`."""
    if not isinstance(node, ast.Call) or keyword(node, "create_graph") is not None:
        return None
    owner, _, name = module.names.qualified(node.func).rpartition(".")
    known = owner == "torch.autograd.functional" and name in _TRANSFORMS
    return short(node.func) if known else None


def _reads(function: ast.FunctionDef | ast.Lambda) -> bool:
    """Return True if the function reads one of its arguments, or has none."""
    names = {arg.arg for arg in nodes_of(function.args, ast.arg)}
    read = nodes_of(function, ast.Name)
    return not names or any(n.id in names and isinstance(n.ctx, ast.Load) for n in read)
