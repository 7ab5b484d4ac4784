"""Decide whether what is kept between iterations is a measure of the training, such as losses."""

from __future__ import annotations

import ast

from analyzers.explain.reuse.derivations import made_of
from analyzers.explain.reuse.features import ReuseFeatures
from analyzers.explain.reuse.read_only_uses import is_loss
from analyzers.source.callees import plain_name
from analyzers.source.calls import argument_for, calls_to
from analyzers.source.flow import bindings, definitions, put_in, value_of
from analyzers.source.project import Project, Scope
from analyzers.source.signatures import positional
from analyzers.source.trees import nodes_of


def keeps_losses(story: ReuseFeatures) -> bool:
    """Return True if the carrier's values come from losses. A record of how well a sample, a task
    or a level was learnt is used as a number, also in the iteration that wrote it.
    """
    return any(
        _of_losses(story.project, scope, value)
        for module, scope, statement in story.binders
        if story.binds_inside(module, scope, statement)
        and len(bindings(statement)) < 2  # `loss, state = ...` binds the loss next to what it keeps
        and (value := value_of(statement) or put_in(statement)) is not None
    )


def _of_losses(project: Project, scope: Scope, value: ast.expr, depth: int = 3) -> bool:
    """Return True if a value comes from a loss function, here or in the function's callers."""
    names = made_of(scope, value)
    single = [s for name in names for s in definitions(scope, name) if len(bindings(s)) == 1]
    given = [v for s in single if (v := value_of(s)) is not None]
    if any(_measures(n) for v in (value, *given) for n in nodes_of(v, ast.Call)):
        return True
    if not depth or not isinstance(scope, ast.FunctionDef):
        return False
    parameters = positional(scope)
    own = parameters[1:] if parameters[:1] == ["self"] else parameters
    return any(
        argument is not None and _of_losses(project, module.scope_of(call), argument, depth - 1)
        for module, call in calls_to(project, scope.name)
        for name in own
        if name in names
        for argument in (argument_for(call, own, name),)
    )


def _measures(call: ast.Call) -> bool:
    return is_loss(call) or plain_name(call).endswith("cross_entropy")
