"""Find the definition site: the line where a name takes on the old graph, as far as the source
shows.
"""

from __future__ import annotations

import ast
from collections.abc import Iterator

from analyzers.explain.reuse.execution_counts import CONSTRUCTORS, STORING, cache_of
from analyzers.explain.reuse.passing import handed_down
from analyzers.explain.reuse.shared_frame import Shared, SharedFrame
from analyzers.explain.source_locations import resolve_location
from analyzers.source.flow import bindings, definitions
from analyzers.source.project import FUNCTIONS, Module, Project, Scope, spelled
from provenance import CodeLine, Referrer, StaleEdge


def onset(calls: SharedFrame, name: str, holder: Referrer, edge: StaleEdge) -> CodeLine | None:
    """Return the line that made the tensor, if it also binds the name; else the line that binds the
    name.
    """
    for place in (edge.old.at, edge.raising.at if edge.raising is not None else None):
        made = resolve_location(calls.project, place)
        if made is not None and _gives(made.statement, name):
            return made.place
    return (
        _last_binding(calls, name, holder)
        or _handed_down(calls, name)
        or _stored_as(calls.project, name)
    )


def _gives(statement: ast.stmt, name: str) -> bool:
    """Return True if the statement binds the name, or an attribute of this name on `self`."""
    own = f"self.{name.rpartition('.')[2]}" if "." in name else name
    return not {name, own}.isdisjoint(bindings(statement))


def _last_binding(calls: SharedFrame, name: str, holder: Referrer) -> CodeLine | None:
    for module, scope, function in _scopes(calls, holder):
        bound = definitions(scope, name)
        before = [s for s in bound if _in_freed_iteration(calls.shared, module, s)]
        if bound:
            return CodeLine(module.path, (before or bound)[-1].lineno, function)
    return None


def _handed_down(calls: SharedFrame, name: str) -> CodeLine | None:
    """Return the place where a caller binds what it passes to the shared frame's parameter."""
    for caller, argument in handed_down(calls.above, name):
        if bound := definitions(caller.scope, spelled(argument)):
            return CodeLine(caller.module.path, bound[-1].lineno, caller.place.function)
    return None


def _stored_as(project: Project, name: str) -> CodeLine | None:
    """Return the place where any function but a constructor binds the attribute of this name, or
    the cached property of this name.
    """
    for module in project.modules.values() if "." in name else ():
        for statement in module.nodes:
            if isinstance(statement, FUNCTIONS[:2]) and cache_of(statement, STORING) is not None:
                if statement.name == name.rpartition(".")[2]:
                    return CodeLine(module.path, statement.lineno, statement.name)
            if isinstance(statement, ast.stmt) and _gives(statement, name):
                function = getattr(module.scope_of(statement), "name", "<module>")
                if function not in CONSTRUCTORS:
                    return CodeLine(module.path, statement.lineno, function)
    return None


def _in_freed_iteration(shared: Shared | None, module: Module, statement: ast.stmt) -> bool:
    """Return True if the statement ran in the iteration that the freeing call ended."""
    if shared is None or shared.module is not module or not shared.loops:
        return True
    return module.holds(shared.loops[0], statement)


def _scopes(calls: SharedFrame, holder: Referrer) -> Iterator[tuple[Module, Scope, str]]:
    """Yield the scopes in which the reference's name is bound, most likely first."""
    shared = calls.shared
    if shared is not None and holder.frame == shared.frame:
        yield shared.module, shared.scope, shared.function
    for module, function in calls.project.functions_by_name(holder.scope):
        yield module, function, holder.scope
    if shared is not None:
        yield shared.module, shared.module.tree, "<module>"
