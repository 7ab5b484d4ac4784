"""Decide whether a script ever steps an optimizer."""

from __future__ import annotations

import ast
from collections.abc import Iterator

from analyzers.source.callees import is_call
from analyzers.source.calls import gradients_read, named_alone, steps
from analyzers.source.flow import bindings
from analyzers.source.name_resolution import names_of
from analyzers.source.object_sources import Makers
from analyzers.source.project import Module, Project, spelled


def never_stepped(project: Project, made: ast.stmt) -> str | None:
    """Return the name of the optimizer that a statement makes, if no call of the script may be its
    step: a call on an object of unknown origin may be one. Return None if the script uses gradients
    itself.
    """
    name = next(iter(bindings(made)), None)
    if name is None:
        return None
    own = name.rpartition(".")[2]
    for module in project.modules.values():
        if any(_may_step(call, own, made, module) for call in steps(module.tree)):
            return None
    named = any(True for _ in uncalled_steps(name, project))
    return name if named or not any(map(_uses_gradients, project.modules.values())) else None


def uncalled_steps(name: str, project: Project) -> Iterator[tuple[Module, ast.expr]]:
    """Yield `optimizer.step` without parentheses, as a statement of its own."""
    for module in project.modules.values():
        for node in named_alone(module.each(ast.Expr), f"{name}.step"):
            yield module, node


def _may_step(call: ast.Call, own: str, made: ast.stmt, module: Module) -> bool:
    """Return True unless a call steps another optimizer, of another name."""
    assert isinstance(call.func, ast.Attribute)
    names, given = names_of(call), [call.func.value, *call.args]
    if names is None or any(spelled(node).rpartition(".")[2] == own for node in given):
        return True
    origins = [origin for path, origin in Makers(names).of(call.func.value) if path]
    return not origins or any(module.holds(made, one) for one in origins)


def _uses_gradients(module: Module) -> bool:
    """Return True if a file reads a gradient, and not only to print it."""
    return any(
        not any(isinstance(o, ast.Call) and is_call(o, "print") for o in module.ancestors(node))
        for node in gradients_read(module)
    )
