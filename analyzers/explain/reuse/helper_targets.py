"""Find helpers that compute the target of a loss."""

from __future__ import annotations

import ast
from collections.abc import Sequence
from dataclasses import dataclass
from typing import cast

from analyzers.explain.reuse.derivations import made_of
from analyzers.explain.reuse.features import ReuseFeatures
from analyzers.explain.reuse.read_only_uses import losses_in, siblings
from analyzers.explain.source_locations import hops_at
from analyzers.source.flow import walk_scope
from analyzers.source.project import Module, Project, Scope
from analyzers.source.signatures import parameters
from analyzers.source.trees import remembered


@dataclass(frozen=True)
class HelperTarget:
    """A parameter that a function of the script only compares with, as its loss's target."""

    module: Module
    function: ast.FunctionDef
    parameter: str


@remembered
def helper_targets(story: ReuseFeatures) -> list[HelperTarget]:
    """Return the parameters of functions called by the shared frame that are constants there and
    receive a value of the carrier.
    """
    if story.shared is None or not story.name:
        return []
    scope = story.shared.scope
    names = {story.name, *siblings(story)}
    found: list[HelperTarget] = []
    for argument, target in _given_to_targets(scope, story.project):
        if made_of(scope, argument) & names:
            found.append(target)
    if not found and not story.hands_on:  # a value carried between iterations needs another fix
        found = _seen_compared(story)
    return list(dict.fromkeys(found))


def _given_to_targets(scope: Scope, project: Project) -> Sequence[tuple[ast.expr, HelperTarget]]:
    """Return the arguments of calls in a scope that other functions of the script only compare
    with."""
    key = _given_to_targets, id(scope)  # the project keeps the scope
    if key not in project.kept:
        project.kept[key] = [
            (argument, HelperTarget(module, function, parameter))
            for call in walk_scope(scope)
            if isinstance(call, ast.Call)
            for module, function in project.functions_called(call)
            if isinstance(function, ast.FunctionDef) and function is not scope
            for parameter, argument in zip(parameters(function), call.args, strict=False)
            if parameter in _compared_with(function)
        ]
    return cast(list[tuple[ast.expr, HelperTarget]], project.kept[key])


def _seen_compared(story: ReuseFeatures) -> list[HelperTarget]:
    """Return the parameters under which a run saw old values enter a function that only compares
    with them, however far from the shared frame.
    """
    found: list[HelperTarget] = []
    used = {edge.new.at.frame for edge in story.reuse.stale_edges if edge.new and edge.new.at}
    for binding, where in hops_at(story.project, story.reuse.path, "argument"):
        function = where.statement  # an argument's place is the `def`
        if binding.at.frame in used and isinstance(function, ast.FunctionDef):
            if binding.name in _compared_with(function):
                found.append(HelperTarget(where.module, function, binding.name))
    return list(dict.fromkeys(found))


@remembered
def _compared_with(function: ast.FunctionDef) -> set[str]:
    """Return the parameters that reach the second argument of loss functions
    and never the first.
    """
    first: set[str] = set()
    second: set[str] = set()
    for loss in losses_in(function):
        first |= made_of(function, loss.args[0])
        second |= made_of(function, loss.args[1])
    return second - first
