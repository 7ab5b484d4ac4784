"""What a script does within backward hooks: named looks."""

from __future__ import annotations

import ast

from analyzers.advice.looking import last_name, short
from analyzers.source.calls import asks_for_gradient
from analyzers.source.project import Module

_OF_MODULES = frozenset(
    {"register_full_backward_hook", "register_backward_hook", "register_full_backward_pre_hook"}
)
_OF_TENSORS = frozenset({"register_hook"})


def gradient_read_in_hook(node: ast.AST, module: Module) -> str | None:
    """Match `param.grad` in a backward hook of a module."""
    if not isinstance(node, ast.Attribute) or node.attr != "grad":
        return None
    read = isinstance(node.ctx, ast.Load) and _is_inside(node, module, _OF_MODULES)
    return short(node) if read else None


def recorded_in_hook(node: ast.AST, module: Module) -> str | None:
    """Match a new leaf, `.grad_fn` or a derivative in a backward hook that records nothing."""
    match node:
        case ast.Call(func=func):
            found = asks_for_gradient(node) or last_name(func) in ("backward", "grad")
        case ast.Attribute(attr="grad_fn") as func:
            found = True
        case _:
            return None
    inside = found and _is_inside(node, module, _OF_MODULES | _OF_TENSORS)
    return short(func) if inside and "enable_grad" not in module.text else None


def _is_inside(node: ast.AST, module: Module, registrations: frozenset[str]) -> bool:
    """Return True if code is in a function that is registered by one of these methods."""
    names = {
        getattr(scope, "name", "") for scope in (module.scope_of(node), *module.ancestors(node))
    }
    return any(
        call.args and last_name(call.args[0]) in names - {""}
        for call in module.each(ast.Call)
        if last_name(call.func) in registrations
    )
