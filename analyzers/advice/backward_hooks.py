"""What a script does within backward hooks: named looks."""

from __future__ import annotations

import ast
import re

from analyzers.advice.looking import compiled, last_name, short
from analyzers.source.calls import asks_for_gradient
from analyzers.source.project import Module, spelled
from analyzers.source.targets import assigned
from analyzers.source.trees import nodes_of

_OF_MODULES = frozenset(
    {"register_full_backward_hook", "register_backward_hook", "register_full_backward_pre_hook"}
)
_REGISTERS = re.compile(r"register_(?:full_)?(?:forward|backward)_(?:pre_)?hook")
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


def hook_after_compiling(node: ast.AST, module: Module) -> str | None:
    """Match `layer.register_forward_hook(f)` below a call of what `torch.compile` made."""
    if not isinstance(node, ast.Call) or not _REGISTERS.fullmatch(last_name(node.func)):
        return None
    made = [*module.each(ast.Assign), *module.each(ast.FunctionDef)]
    names = {
        name
        for each in made
        if any(compiled(call, module) for call in nodes_of(each, ast.Call, ast.Attribute))
        for name in (assigned(each) if isinstance(each, ast.Assign) else [_named(each)])
    }
    called = (c for c in module.each(ast.Call) if spelled(c.func) in names)
    before = any(call.lineno < node.lineno for call in called)
    return short(node.func) if before else None


def _named(definition: ast.stmt) -> str:
    return definition.name if isinstance(definition, ast.FunctionDef) else ""
