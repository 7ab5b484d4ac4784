"""Find weights that iterations update by hand, without an optimizer, in the
loop or in a function.
"""

from __future__ import annotations

import ast
from dataclasses import dataclass

from analyzers.source.calls import updates_by_hand
from analyzers.source.flow import names_read
from analyzers.source.project import Project
from analyzers.source.trees import walk


@dataclass(frozen=True)
class Update:
    """A statement that steps weights, and the names through which the loop knows them: of the
    statement itself, or of the call that leads to it."""

    statement: ast.stmt
    names: frozenset[str]


def updates_in(project: Project, node: ast.AST) -> list[Update]:
    """Return the updates that a piece of source makes, itself or in functions that it calls."""
    own = [Update(s, frozenset(names_read(s))) for s in updates_by_hand(node)]
    called = {
        function: names_read(call)
        for call in walk(node)
        if isinstance(call, ast.Call)
        for _, function in project.functions_called(call)
    }
    return own + [
        Update(statement, frozenset(names))
        for function, names in called.items()
        for statement in updates_by_hand(function)
    ]
