"""Whether what a name gathers is meant for a backward that the run has not come to."""

from __future__ import annotations

import ast

from analyzers.evidence import SilentFault
from analyzers.explain.spots import functions_reaching, names_held, root_of
from analyzers.source.flow import (
    WALKS,
    called_name,
    flowing_into,
    names_read,
    statements_of,
    walk_scope,
    walked,
)
from analyzers.source.project import Project


def is_walked(fault: SilentFault, project: Project) -> bool:
    """Whether a backward anywhere walks what is made of a name that the fault holds: by that name,
    or by its last part where it is an attribute (`policy.log_probs` for `self.log_probs`)."""
    held = {root_of(name) for name in names_held(fault.holders)}
    attributes = {name.rpartition(".")[2] for name in held if "." in name}
    walking = functions_reaching(project, *WALKS)
    return any(
        name in held or ("." in name and name.rpartition(".")[2] in attributes)
        for module in project.modules.values()
        for scope in module.scopes
        for name in flowing_into(statements_of(scope), _given(scope, walking))
    )


def _given(scope: ast.AST, walking: set[str]) -> set[str]:
    """Names that the scope's backward calls walk, or that it gives to functions that walk."""
    given: list[ast.expr | None] = []
    for call in walk_scope(scope):
        if isinstance(call, ast.Call) and called_name(call) in WALKS:
            given.append(walked(call))
        elif isinstance(call, ast.Call) and called_name(call) in walking:
            given += [*call.args, *(keyword.value for keyword in call.keywords)]
    return set().union(*(names_read(node) for node in given if node is not None))
