"""Recognise gradients that only give the direction in which an input is moved: adversarial
examples.
"""

from __future__ import annotations

import ast
from collections.abc import Iterator

from analyzers.explain.reuse.passing import arguments
from analyzers.explain.reuse.read_only_uses import is_loss
from analyzers.repair.sites.uses import carried_from, carrying
from analyzers.source.callees import in_library
from analyzers.source.calls import calls_to
from analyzers.source.flow import bindings, mentions, own_expressions, statements_of, value_of
from analyzers.source.project import FUNCTIONS, Module, Project, spelled
from analyzers.source.trees import walk

DEPTH = 3  # of callers


def moves_its_input(
    project: Project, module: Module, statement: ast.stmt, asked: str, depth: int = DEPTH
) -> bool:
    """Return True if what a statement computes from the gradient of `asked` is added to `asked` and
    the sum is passed to a model: the step is a constant there. Not if it is subtracted, as in a
    descent that is to be differentiated, nor if a loss compares with the sum itself.
    """
    scope = module.scope_of(statement)
    carried, returned = carried_from(scope, statement)
    for later in statements_of(scope):
        value = value_of(later)
        if any(_adds(node, asked, carried) for node in walk(value or later)):
            moved = set(bindings(later))
            return any(_is_handed(s, asked, carried, moved) for s in statements_of(scope))
    if not (returned and depth and isinstance(scope, FUNCTIONS[:2])):
        return False
    return any(
        moves_its_input(project, caller, at, name, depth - 1)
        for caller, at, name in _callers(project, module, scope, asked)
    )


def _callers(
    project: Project, module: Module, scope: ast.FunctionDef | ast.AsyncFunctionDef, asked: str
) -> Iterator[tuple[Module, ast.stmt, str]]:
    """Yield the callers of the function, and what they pass for the parameter."""
    for caller, call in calls_to(project, scope.name):
        given = dict(arguments(call, module, scope)).get(asked)
        at = caller.statement_at(call.lineno, call.col_offset)
        if given is not None and at is not None:
            yield caller, at, spelled(given)


def _adds(node: ast.AST, asked: str, carried: set[str]) -> bool:
    """Return True if an expression adds something of the gradient to its own input."""
    match node:
        case ast.BinOp(left=left, op=ast.Add(), right=right):
            sides = ((left, right), (right, left))
            return any(
                spelled(a).removesuffix(".detach()") == asked and bool(carrying([b]) & carried)
                for a, b in sides
            )
    return False


def _is_handed(statement: ast.stmt, asked: str, carried: set[str], moved: set[str]) -> bool:
    """Return True if a statement calls a model, or what denotes one, with the sum."""
    for call in own_expressions(statement):
        if not isinstance(call, ast.Call) or is_loss(call) or in_library(call):
            continue
        for given in call.args:
            if any(_adds(node, asked, carried) for node in walk(given)):
                return True
            if any(mentions(given, name) for name in moved):
                return True
    return False
