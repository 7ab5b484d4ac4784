"""Ask for the gradient of an input before anything is computed from it."""

from __future__ import annotations

import ast
from collections.abc import Iterator
from itertools import pairwise

from analyzers.evidence import MissingGraph
from analyzers.explain.pattern import Proposal
from analyzers.explain.reuse.passing import arguments
from analyzers.explain.source_locations import SourceLocation, names_held, resolve_location
from analyzers.source.calls import asks_for_gradient, own_calls
from analyzers.source.edits import Editor
from analyzers.source.flow import (
    bindings,
    definitions,
    own_expressions,
    statements_of,
    value_of,
)
from analyzers.source.project import Module, Project, spelled
from analyzers.source.trees import position, walk


def requiring_grad(where: SourceLocation, evidence: MissingGraph) -> Iterator[Proposal]:
    """Yield a proposal with `requires_grad_()` on the input, before the differentiating function
    uses it.
    """
    for name in names_held(evidence.holders)[:1]:
        if (user := _first_user(where, name)) is not None:
            edit = where.editor.insert_before(user, f"{name}.requires_grad_()")
            title = f"Record what is computed from `{name}`"
            yield Proposal("require-grad", title, (edit,))


def required_where_made(
    where: SourceLocation, evidence: MissingGraph, project: Project
) -> Iterator[Proposal]:
    """Yield proposals with `requires_grad_()` where the input that a caller passes is made, or what
    a function returns under the key by which the caller reads it; or before the caller, which takes
    it out of something, computes from it.
    """
    for name in names_held(evidence.holders)[:1]:
        at, name = _passed_as(where, name, evidence, project)
        user = _first_user(at, name) if at.scope is not where.scope else None
        if user is not None and not any(True for _ in _made(at, name, project)):
            edit = at.editor.insert_before(user, f"{name}.requires_grad_()")
            title = f"Record what is computed from `{name}`"
            yield Proposal("require-grad", title, (edit,))
        for module, statement in _made(at, name, project):
            value = value_of(statement)
            if isinstance(value, ast.Call) and not any(map(asks_for_gradient, _calls(value))):
                edit = Editor(module).append_to(value, ".requires_grad_()")
                title = f"Record what is computed from `{bindings(statement)[0]}`"
                yield Proposal("require-grad", title, (edit,))


def _passed_as(
    where: SourceLocation, name: str, evidence: MissingGraph, project: Project
) -> tuple[SourceLocation, str]:
    """Return the outermost place of the stack at which the value has a name, and that name."""
    frames = [one for place in evidence.stack if (one := resolve_location(project, place))]
    for caller, inner in reversed([*pairwise(frames)]):
        if inner.scope is not where.scope or not isinstance(inner.scope, ast.FunctionDef):
            break
        calls = own_calls(caller.statement, inner.scope.name) or _calls(caller.statement)
        given = [dict(arguments(call, inner.module, inner.scope)).get(name) for call in calls]
        passed = [one.id for one in given if isinstance(one, ast.Name)]
        if definitions(inner.scope, name) or len(passed) != 1:
            break
        where, name = caller, passed[0]
    return where, name


def _made(at: SourceLocation, name: str, project: Project) -> Iterator[tuple[Module, ast.stmt]]:
    """Yield the statements that make what a name is bound to."""
    for statement in definitions(at.scope, name)[-1:]:
        match value_of(statement):
            case ast.Subscript(slice=ast.Constant(value=str() as key)):
                for module, display in project.each(ast.Dict):
                    for given, value in zip(display.keys, display.values, strict=True):
                        named = isinstance(value, ast.Name) and getattr(given, "value", "") == key
                        scope = module.scope_of(display)
                        made = definitions(scope, spelled(value)) if named else []
                        yield from ((module, one) for one in made[:1])
            case ast.Call() if bindings(statement) == [name]:  # not one of several results
                yield at.module, statement


def _calls(value: ast.expr | ast.stmt) -> list[ast.Call]:
    return [node for node in walk(value) if isinstance(node, ast.Call)]


def _first_user(where: SourceLocation, name: str) -> ast.stmt | None:
    """Return the first statement that itself reads a name, after what binds it last before the
    place.
    """
    bound = [s for s in definitions(where.scope, name) if position(s) < position(where.statement)]
    start = max(map(position, bound), default=(0, 0))
    following = (s for s in statements_of(where.scope) if position(s) > start)
    return next((s for s in following if _reads(s, name)), None)


def _reads(statement: ast.stmt, name: str) -> bool:
    paths = (n for n in own_expressions(statement) if isinstance(n, ast.Name | ast.Attribute))
    return any(isinstance(n.ctx, ast.Load) and spelled(n) == name for n in paths)
