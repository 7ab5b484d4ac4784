"""What a training loop leaves open: named looks."""

from __future__ import annotations

import ast
from collections.abc import Set

from analyzers.advice.looking import Found, short
from analyzers.source.backward import backward_calls, backward_root
from analyzers.source.flow import (
    bound_within,
    first_use,
    flowing_into,
    names_read,
    statements_of,
)
from analyzers.source.project import LOOPS, Module, spelled
from analyzers.source.targets import target_names
from analyzers.source.trees import nodes_of

_SETTINGS = {"args", "cfg", "conf", "config", "device", "hparams", "opt", "opts", "self", "torch"}


def called_in_loop(node: ast.AST, module: Module) -> Found:
    """Match `y = model(x)` in a loop whose only backward call begins at what is made of its batch:
    nothing that the loop shows goes on to its next iteration.
    """
    if not isinstance(node, LOOPS):
        return None
    inside = [inner for s in node.body for inner in backward_calls(s)]
    if len(inside) != 1 or module.loops_around(inside[0])[:1] != [node]:
        return None
    root = backward_root(inside[0])
    within = [s for s in statements_of(module.scope_of(node)) if node in module.ancestors(s)]
    made = flowing_into(within, names_read(root)) if root is not None else set[str]()
    bound = bound_within(node)
    taken = set(target_names(node.target)) if isinstance(node, ast.For) else set[str]()
    if any(first_use(node.body, name) == "read" for name in (made & bound) - taken):
        return None
    calls = [n for s in within for n in nodes_of(s, ast.Call)]
    called = {spelled(call.func) for call in calls}
    if _from_outside(made, bound, called, module):
        return None
    models = (c for c in calls if _is_model(c, bound, module) and spelled(c.func) in made)
    first = min(models, key=lambda call: call.lineno, default=None)
    return (short(first.func), first) if first is not None else None


def _from_outside(made: Set[str], bound: Set[str], called: Set[str], module: Module) -> set[str]:
    """Return the names of values that come from before a loop; what is called is none."""
    known = bound | {_head(name) for name in called} | _SETTINGS
    heads = {_head(name) for name in made} - known
    return {name for name in heads if not module.in_library(name)}


def _head(name: str) -> str:
    """Return the variable that a path begins with; of an object's own attributes, that one, unless
    it holds settings."""
    root, _, rest = name.partition(".")
    attribute = rest.partition(".")[0]
    return root if root != "self" or attribute in _SETTINGS or not rest else f"self.{attribute}"


def _is_model(call: ast.Call, bound: Set[str], module: Module) -> bool:
    """Return True if what is called is made before the loop, is given values, and is no library's
    function."""
    name = spelled(call.func)
    root = name.partition(".")[0]
    method = isinstance(call.func, ast.Attribute) and root != "self"
    given = any(names_read(argument) & bound for argument in call.args)
    return given and not method and root not in bound and not module.in_library(name)
