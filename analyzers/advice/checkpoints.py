"""Activation checkpoints and what they make fail: named looks."""

from __future__ import annotations

import ast
import re

from analyzers.advice.looking import last_name, short
from analyzers.source.flow import walk_scope
from analyzers.source.project import Function, Module, Scope, spelled
from analyzers.source.signatures import named


def reentrant_checkpointing(node: ast.AST, module: Module) -> str | None:
    """Match checkpointing that is reentrant, or does not say.

    For example `checkpoint(f, x)`, `gradient_checkpointing_enable()`,
    `gradient_checkpointing=True`.
    """
    found = None
    match node:
        case ast.Call(func=func) if last_name(func) in ("checkpoint", "checkpoint_sequential"):
            found = short(func) if "checkpoint" in module.text and _of_torch(func, module) else None
        case ast.Call(func=ast.Attribute(attr="gradient_checkpointing_enable") as func):
            found = short(func)
        case ast.Call(func=func) if last_name(func) == "prepare_model_for_kbit_training":
            found = short(func)
        case ast.keyword(arg="gradient_checkpointing", value=ast.Constant(value=True)):
            found = "gradient_checkpointing=True"
    says = found and re.search(r"use_reentrant['\"]?\s*[=:]\s*False", module.text)
    return None if says else found


def _of_torch(func: ast.expr, module: Module) -> bool:
    """Return True if a `checkpoint` function is torch's: imported from there, or spelled so."""
    text = spelled(func)
    return "." in text or "torch.utils.checkpoint" in module.text


def _checkpointed(module: Module) -> set[str]:
    """Return the last names of the functions passed to `checkpoint`."""
    called = (n for n in module.each(ast.Call) if last_name(n.func).startswith("checkpoint"))
    return {last_name(n.args[0]) for n in called if n.args}


def _in_checkpointed(node: ast.AST, module: Module) -> bool:
    """Return True if code is in a checkpointed function, or in a checkpointed module's forward.

    That is any method but the constructor, if the function is not known by name.
    """
    scope = module.scope_of(node)
    name = getattr(scope, "name", "")
    known = _checkpointed(module)
    if not name or name == "__init__" or not known:
        return False
    defined = {f.name for f in module.nodes if isinstance(f, ast.FunctionDef)}
    return name in known or (not known & defined and name == "forward")


def state_in_checkpoint(node: ast.AST, module: Module) -> str | None:
    """Match `self.calls += 1` and `self.seen.append(x)` in a checkpointed function."""
    target: ast.expr | None = None
    match node:
        case ast.AugAssign(target=ast.Attribute() | ast.Subscript() as target):
            pass
        case ast.Assign(targets=[ast.Attribute() | ast.Subscript() as target]):
            pass
        case ast.Call(func=ast.Attribute(value=target, attr="append" | "add_")):
            pass
    if target is None or not _in_checkpointed(node, module):
        return None
    return short(target) if _outlives(target, module.scope_of(node)) else None


def _outlives(target: ast.expr, scope: Scope) -> bool:
    """Return True if the target existed before the call of the function."""
    root = target
    while isinstance(root, ast.Attribute | ast.Subscript):
        root = root.value
    name = root.id if isinstance(root, ast.Name) else ""
    arguments = named(scope) if isinstance(scope, Function) else ()
    bound = {n.id for n in walk_scope(scope) if isinstance(n, ast.Name) and not is_read(n)}
    return name == "self" or (bool(name) and name not in bound and name not in arguments)


def is_read(name: ast.Name) -> bool:
    return isinstance(name.ctx, ast.Load)


def autocast_around_checkpoint(node: ast.AST, module: Module) -> str | None:
    """Match `with torch.autocast(...)` around a call that checkpoints."""
    if not isinstance(node, ast.Call) or last_name(node.func) != "autocast":
        return None
    return short(node.func) if _checkpointed(module) else None


def drawn_in_checkpoint(node: ast.AST, module: Module) -> str | None:
    """Match `random.random()` or `np.random.…` in a checkpointed function.

    torch's own random numbers match under `preserve_rng_state=False`.
    """
    if not isinstance(node, ast.Call) or not _in_checkpointed(node, module):
        return None
    text = spelled(node.func)
    if text.startswith(("random.", "np.random.", "numpy.random.")):
        return short(node.func)
    unkept = "preserve_rng_state=False" in module.text.replace(" ", "")
    return short(node.func) if unkept and last_name(node.func).startswith("rand") else None
