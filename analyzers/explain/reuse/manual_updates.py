"""Find weights that iterations update by hand, without an optimizer, in the
loop or in a function.
"""

from __future__ import annotations

import ast

from analyzers.source.calls import updates_by_hand
from analyzers.source.flow import names_read
from analyzers.source.project import Project
from analyzers.source.trees import nodes_of


def updates_in(project: Project, node: ast.AST) -> list[set[str]]:
    """Return for each update of weights that a piece of source makes, itself or in functions that
    it calls, the names that lead to them: those that the statement reads, or the call."""
    own = [names_read(s) for s in updates_by_hand(node)]
    called = {
        function: names_read(call)
        for call in nodes_of(node, ast.Call)
        for _, function in project.functions_called(call)
    }
    return own + [names for function, names in called.items() for _ in updates_by_hand(function)]
