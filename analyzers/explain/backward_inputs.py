"""Decide whether what a name collects is meant for a backward call that the run has not reached."""

from __future__ import annotations

import ast

from analyzers.evidence import SilentFault
from analyzers.explain.source_locations import functions_reaching, names_held, root_of
from analyzers.source.backward import BACKWARD_CALLS, backward_root
from analyzers.source.callees import is_call, own_name
from analyzers.source.flow import flowing_into, names_read, statements_of, walk_scope
from analyzers.source.project import Project


def runs_backward_on(fault: SilentFault, project: Project) -> bool:
    """Return True if a backward call anywhere uses what is computed from a name that the fault
    holds, by that name or, for an attribute, by its last part (`policy.log_probs` for
    `self.log_probs`).
    """
    held = {root_of(name) for name in names_held(fault.holders)}
    attributes = {name.rpartition(".")[2] for name in held if "." in name}
    calling_backward = functions_reaching(project, *BACKWARD_CALLS)
    return any(
        name in held or ("." in name and name.rpartition(".")[2] in attributes)
        for module in project.modules.values()
        for scope in module.scopes
        for name in flowing_into(statements_of(scope), _given(scope, calling_backward))
    )


def _given(scope: ast.AST, calling_backward: set[str]) -> set[str]:
    """Return the names on which the scope calls backward, or which it passes
    to functions that do.
    """
    given: list[ast.expr | None] = []
    for call in walk_scope(scope):
        if isinstance(call, ast.Call) and is_call(call, *BACKWARD_CALLS):
            given.append(backward_root(call))
        elif isinstance(call, ast.Call) and own_name(call) in calling_backward:
            given += [*call.args, *(keyword.value for keyword in call.keywords)]
    return set().union(*(names_read(node) for node in given if node is not None))
