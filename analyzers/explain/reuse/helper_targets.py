"""Find helpers that compute the target of a loss."""

from __future__ import annotations

import ast
from dataclasses import dataclass

from analyzers.explain.reuse.derivations import made_of
from analyzers.explain.reuse.features import ReuseFeatures
from analyzers.explain.reuse.read_only_uses import is_loss, siblings
from analyzers.explain.source_locations import hops_at
from analyzers.source.flow import (
    walk_scope,
)
from analyzers.source.project import Module
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
    for call in walk_scope(scope):
        if not isinstance(call, ast.Call):
            continue
        for module, function in story.project.functions_called(call):
            if not isinstance(function, ast.FunctionDef) or function is scope:
                continue
            only_read = _compared_with(function)
            for parameter, argument in zip(parameters(function), call.args, strict=False):
                if parameter in only_read:
                    if made_of(scope, argument) & names:
                        found.append(HelperTarget(module, function, parameter))
    if not found and not story.hands_on:  # a value carried between iterations needs another fix
        found = _seen_compared(story)
    return list(dict.fromkeys(found))


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
    for node in walk_scope(function):
        if isinstance(node, ast.Call) and len(node.args) >= 2 and is_loss(node):
            first |= made_of(function, node.args[0])
            second |= made_of(function, node.args[1])
    return second - first
