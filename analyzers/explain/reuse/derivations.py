"""Follow what a carrier's next value is computed from, through assignments and calls."""

from __future__ import annotations

import ast
from collections.abc import Callable

from analyzers.explain.reuse.aliasing import denoted
from analyzers.explain.reuse.kept_values import fresh_names, is_average, taken_from
from analyzers.explain.source_locations import returns_of
from analyzers.source.flow import feeding, names_read, part_for, put_in, value_of
from analyzers.source.project import Project, Scope
from analyzers.source.trees import nodes_of


def feeds(
    project: Project, scope: Scope, statement: ast.stmt, is_carrier: Callable[[str], bool]
) -> bool:
    """Return True if a statement computes the carrier's next value from its last."""
    value = part_for(statement, is_carrier) or put_in(statement)
    if value is None:
        return False
    whole = with_parts(scope, is_carrier)

    def read(made: ast.expr) -> set[str]:
        """Return the names that a value depends on. An average keeps its old value; `net(cat([x,
        old]))` is new.
        """
        average = is_average(made, whole, scope)
        return fresh_names(made, whole, scope) if average else names_read(made)

    made = denoted(value, scope, project)
    fresh = fresh_names(value, whole, scope) if made is value else read(made)
    return any(whole(name) for name in sources(scope, statement, fresh, read))


def feeds_by_call(project: Project, statement: ast.stmt, is_carrier: Callable[[str], bool]) -> bool:
    """Return True if a statement takes the carrier's next value from a function that computes it
    from the last, which it reads itself as an attribute: `self.h = self.advance(x)`.
    """
    value = part_for(statement, is_carrier)
    calls = nodes_of(value, ast.Call) if value is not None else []
    made = [
        (function, answer)
        for call in calls
        for _, function in project.functions_called(call)
        for answer in returns_of(function)
    ]
    return any(
        is_carrier(name)
        for function, answer in made
        for name in sources(function, answer, names_read(answer))
    )


def with_parts(scope: Scope, is_carrier: Callable[[str], bool]) -> Callable[[str], bool]:
    """Return a test for names that denote the carrier in a function or a part of it: `kept =
    queue[8:]`, `old = scales.get(key)`.
    """
    parts = {
        name
        for whole, taken in taken_from(scope).items()
        if is_carrier(whole)
        for value, names in taken
        if not is_carrier(value)
        for name in names
    }
    return lambda name: name in parts or is_carrier(name)


def made_of(scope: Scope, value: ast.AST) -> set[str]:
    """Return the names that a value depends on through the scope's own
    assignments, transitively.
    """
    return sources(scope, ast.Pass(), names_read(value))


def sources(
    scope: Scope,
    statement: ast.stmt,
    wanted: set[str],
    reads: Callable[[ast.expr], set[str]] | None = None,
) -> set[str]:
    """Return names that flow into the wanted ones through the scope's other assignments.

    `reads` selects which names of a value count; None selects all.
    """
    feeds = feeding(scope)
    found, new = set(wanted), set(wanted)
    for _ in range(8):
        given = [fed for name in new for fed in feeds.get(name, ()) if fed[0] is not statement]
        read = (
            reads(value) if reads and (value := value_of(node) or put_in(node)) else names
            for node, names in given
        )
        new = set().union(*read) - found
        if not new:
            break
        found |= new
    return found
