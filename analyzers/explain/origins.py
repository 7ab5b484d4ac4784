"""Find the statements and functions from which a value is computed, as far as the source shows."""

from __future__ import annotations

import ast
from collections.abc import Iterator, Sequence
from typing import Any

from analyzers.explain.source_locations import SourceLocation, values_of
from analyzers.source.callees import own_name
from analyzers.source.flow import definitions, names_read, put_in, value_of, walk_scope
from analyzers.source.project import FUNCTIONS, Module, Project, spelled
from analyzers.source.trees import nodes_of
from provenance import CodeLine

MAX_STATEMENTS = 60


def origins_of(
    where: SourceLocation, names: set[str], project: Project
) -> Iterator[SourceLocation]:
    """Yield the statements that compute the names, nearest first: in their own function, then in
    the functions that it calls.
    """
    seen: set[int] = set()
    todo: list[tuple[Module, ast.AST, set[str]]] = [(where.module, where.scope, names)]
    while todo and len(seen) < MAX_STATEMENTS:
        module, scope, wanted = todo.pop(0)
        for statement in _flowing_into(scope, wanted):
            if id(statement) in seen:
                continue
            seen.add(id(statement))
            function = getattr(scope, "name", "<module>")
            yield SourceLocation(
                module, statement, CodeLine(module.path, statement.lineno, function)
            )
            for callee_module, callee in callees(statement, project):
                todo.append((callee_module, callee, set()))


def _flowing_into(scope: ast.AST, wanted: set[str]) -> list[ast.stmt]:
    """Return the assignments that the wanted names depend on; without names, those that the
    function's result depends on.
    """
    returns = [n for n in walk_scope(scope) if isinstance(n, ast.Return)] if not wanted else []
    found: list[ast.stmt] = list(returns)
    todo = sorted(wanted or {name for r in returns for name in names_read(r)})
    known = set(todo)
    while todo:
        for statement in definitions(scope, todo.pop(0)):
            value = value_of(statement) or put_in(statement)
            if value is None or statement in found:
                continue
            found.append(statement)
            more = names_read(value) - known
            known |= more
            todo += sorted(more)
    return found


def callees(statement: ast.stmt, project: Project) -> Iterator[tuple[Module, ast.AST]]:
    """Yield the project's functions that a statement calls, by name or by calling an object."""
    for call in nodes_of(statement, ast.Call):
        yield from project.functions_called(call)
        yield from _methods_called(spelled(call.func), project)


def _methods_called(name: str, project: Project) -> Sequence[tuple[Module, ast.AST]]:
    """Return `forward` or `__call__` of the class from which an object of this name was made."""
    kept: Any = project.kept
    if (key := (_methods_called, name)) not in kept:
        made = {own_name(v) for v in values_of(project, name) if isinstance(v, ast.Call)}
        kept[key] = [
            (module, method)
            for module, node in project.each(ast.ClassDef)
            for method in (node.body if node.name in made else ())
            if isinstance(method, FUNCTIONS[:2]) and method.name in ("forward", "__call__")
        ]
    found: Sequence[tuple[Module, ast.AST]] = kept[key]
    return found
