"""Whether what a name gathers is meant for a backward that the run has not come to."""

from __future__ import annotations

import ast

from analyzers.evidence import SilentFault
from analyzers.explain.spots import functions_calling, names_held, root_of
from analyzers.source.flow import (
    WALKS,
    backward_calls,
    bindings,
    called_name,
    names_read,
    own_expressions,
    walk_scope,
    walked,
)
from analyzers.source.project import FUNCTIONS, Project, target_names
from analyzers.source.trees import walk

ROUNDS = 8  # assignments in a row that are followed


def is_walked(fault: SilentFault, project: Project) -> bool:
    """Whether a backward anywhere walks what is made of a name that the fault holds: by that name,
    or by its last part where it is an attribute (`policy.log_probs` for `self.log_probs`)."""
    held = {root_of(name) for name in names_held(fault.holders)}
    attributes = {name.rpartition(".")[2] for name in held if "." in name}
    walking = set().union(*(functions_calling(project, name) for name in WALKS))
    return any(
        name in held or ("." in name and name.rpartition(".")[2] in attributes)
        for module in project.modules.values()
        for scope in (module.tree, *walk(module.tree))
        if scope is module.tree or isinstance(scope, FUNCTIONS[:2])
        for name in _flowing(scope, _given(scope, walking))
    )


def _given(scope: ast.AST, walking: set[str]) -> set[str]:
    """Names that the scope's backward calls walk, or that it gives to functions that walk."""
    here = [n for n in walk_scope(scope) if isinstance(n, ast.Call)]
    roots = [walked(call) for call in here if call in backward_calls(call)]
    passed = [
        argument
        for call in here
        if called_name(call) in walking and called_name(call) not in WALKS
        for argument in (*call.args, *(keyword.value for keyword in call.keywords))
    ]
    return set().union(*(names_read(node) for node in (*roots, *passed) if node is not None))


def _flowing(scope: ast.AST, wanted: set[str]) -> set[str]:
    """The wanted names, and those that they are made of by the scope's assignments and loops."""
    found = set(wanted)
    given = [(set(_bound(node)), _read(node)) for node in walk_scope(scope)]
    for _ in range(ROUNDS):
        more = set().union(*(read for bound, read in given if bound & found)) - found
        if not more:
            break
        found |= more
    return found


def _bound(node: ast.AST) -> list[str]:
    if isinstance(node, ast.For):
        return list(target_names(node.target))
    return bindings(node) if isinstance(node, ast.stmt) else []


def _read(node: ast.AST) -> set[str]:
    if isinstance(node, ast.For):
        return names_read(node.iter)
    if not isinstance(node, ast.stmt):
        return set()
    return set().union(*(names_read(part) for part in own_expressions(node)))
