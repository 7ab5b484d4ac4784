"""Ways of values from parameters through the functions that read them, towards a loss."""

from __future__ import annotations

import ast
from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass

from analyzers.repair.reconnect.cutting_expressions import cuts_in
from analyzers.repair.reconnect.functional import loads, written
from analyzers.source.backward import backward_calls, backward_root
from analyzers.source.calls import calls_to
from analyzers.source.flow import (
    bindings,
    names_read,
    names_read_by,
    put_in,
    statements_of,
    stored_into,
    value_of,
)
from analyzers.source.project import Module, Project, Scope
from analyzers.source.signatures import parameters
from analyzers.source.trees import nodes_of, remembered

_PASSING_ON = (ast.Assign, ast.AugAssign, ast.AnnAssign, ast.Return)
_OF_OBJECTS = ("forward", "__call__")  # what they do when they are called themselves
MAX_DEPTH = 3  # of calls from the function that reads the parameters


@dataclass(frozen=True)
class FlowPath:
    """A function on the way from the parameters to the loss; `known` are its names for values
    computed from them, each with the name that led there."""

    module: Module
    scope: Scope
    known: Mapping[str, str]
    depth: int = 0


def flow(way: FlowPath, wanted: set[str]) -> Iterator[tuple[ast.stmt, dict[str, str]]]:
    """Yield statements that read wanted modules, parameters or values derived from them.

    Each comes with the names of the derived values at that point, mapped to their sources.
    """
    derived = dict(way.known)
    if getattr(way.scope, "name", "") == "__init__":
        return
    for node in _passing_on(way.scope):
        source = source_of(node, wanted, derived)
        if source is not None:
            yield node, derived
            derived |= dict.fromkeys(bindings(node), source)


@remembered
def _passing_on(scope: Scope) -> Sequence[ast.stmt]:
    """Return the statements of a scope that pass a value on; of loops, those that cut it."""
    return [
        node
        for node in statements_of(scope)
        if (cuts_in(node) if isinstance(node, ast.For) else _passes_on(node))
    ]


def _passes_on(node: ast.stmt) -> bool:
    return isinstance(node, _PASSING_ON) or _put_in(node) is not None


def source_of(node: ast.stmt, wanted: set[str], derived: Mapping[str, str]) -> str | None:
    """Return the name through which the statement's value derives from the wanted, or None."""
    value = node.value if isinstance(node, ast.Return) else value_of(node) or _put_in(node)
    value = node.iter if isinstance(node, ast.For) else value
    read = _in_order(value) if value is not None else ()
    found = next((n for n in read if _is_wanted(n, wanted) or n in derived), None)
    return derived.get(found, found) if found is not None else None


def _put_in(node: ast.stmt) -> ast.expr | None:
    """Return the value that a statement puts into a container or a module's parameter, or calls
    backward on, or None: `y` of `xs.append(y)`.
    """
    if isinstance(node, ast.Expr) and (calls := backward_calls(node)):
        return backward_root(calls[0])
    if isinstance(node, ast.Expr) and (write := written(node)) is not None:
        return write.value
    stored = stored_into(node.value) if isinstance(node, ast.Expr) else None
    return put_in(node) if stored is not None and "." not in stored else None


@remembered
def _in_order(value: ast.expr) -> Sequence[str]:
    """Return the names that an expression reads, in order."""
    return sorted(names_read(value))


def called_by(
    way: FlowPath,
    statement: ast.stmt,
    wanted: set[str],
    derived: Mapping[str, str],
    project: Project,
) -> Iterator[FlowPath]:
    """Yield a path into each of the project's functions that the statement passes such values
    to."""
    for call in nodes_of(statement, ast.Call):
        places: list[tuple[int | str, ast.expr]] = [*enumerate(call.args)]
        places += [(keyword.arg, keyword.value) for keyword in call.keywords if keyword.arg]
        found = ((key, source_of(ast.Return(value), wanted, derived)) for key, value in places)
        given = {key: source for key, source in found if source is not None}
        for module, function in functions_called(call, project) if given else ():
            names = {key: key for key in given if isinstance(key, str)} | dict(
                enumerate(parameters(function))
            )
            known = {names[key]: source for key, source in given.items() if key in names}
            if function is not way.scope:
                yield FlowPath(module, function, known, way.depth + 1)


def callers_of(
    way: FlowPath, statement: ast.stmt, source: str, project: Project
) -> Iterator[FlowPath]:
    """Yield a path in each caller that names the function's result and puts weights into a
    module."""
    name = getattr(way.scope, "name", "")
    for module, call in calls_to(project, name) if isinstance(statement, ast.Return) else ():
        scope = module.scope_of(call)
        at = module.statement_at(call.lineno, call.col_offset)
        if at is not None and scope is not way.scope and _puts_weights(scope):
            known = dict.fromkeys(bindings(at), source)
            yield FlowPath(module, scope, known, way.depth + 1)


@remembered
def _puts_weights(scope: Scope) -> bool:
    """Return True if a function or file puts weights into a module."""
    return any(map(loads, statements_of(scope)))


def functions_called(call: ast.Call, project: Project) -> Iterator[tuple[Module, ast.FunctionDef]]:
    """Yield the project's functions that a call may run.

    They are those of the called name; if there is none, `__call__` and `forward` methods that take
    as many arguments.
    """
    named = [
        (module, function)
        for module, function in project.functions_called(call)
        if isinstance(function, ast.FunctionDef)
    ]
    yield from named
    given = len(call.args) + len(call.keywords)
    for module in project.modules.values() if not named else ():
        of_objects = _called_as_objects(module.tree)
        yield from ((module, function) for function in of_objects.get(given, ()))
        for function in of_objects.get(len(call.args), ()) if call.keywords else ():
            if function.args.kwarg is not None:  # which takes those by name
                yield module, function


@remembered
def _called_as_objects(tree: ast.Module) -> dict[int, list[ast.FunctionDef]]:
    """Return a file's `__call__` and `forward` methods by their number of arguments."""
    found: dict[int, list[ast.FunctionDef]] = {}
    for node in nodes_of(tree, ast.FunctionDef):
        if node.name in _OF_OBJECTS:
            found.setdefault(len(node.args.args) - 1, []).append(node)
    return found


def goes_on(scope: Scope, statement: ast.stmt, project: Project, depth: int = MAX_DEPTH) -> bool:
    """Return True if the statement's value flows on towards a loss.

    It does if it is passed on, stored in an object, run backward or returned; not if it is only
    logged.
    """
    if isinstance(statement, ast.Return):
        return _taken_on(scope, project, depth)
    if isinstance(statement, ast.Expr) and (written(statement) or backward_calls(statement)):
        return True
    reached = set(bindings(statement))
    for node in [*statements_of(scope)] * 2:  # what a loop reads may stand in front
        if not names_read_by(node) & reached:
            continue
        if backward_calls(node):
            return True
        if isinstance(node, ast.Return) and _taken_on(scope, project, depth):
            return True
        reached |= set(bindings(node))
    return any("." in name for name in reached)


def _taken_on(scope: Scope, project: Project, depth: int) -> bool:
    """Return True if a function's return value flows on at its calls, or if it has no visible
    call."""
    name = getattr(scope, "name", "")
    calls = calls_to(project, name)
    if not depth or not calls or name in _OF_OBJECTS:
        return True
    for module, call in calls:
        around = next(n for n in module.ancestors(call) if isinstance(n, ast.stmt))
        runs_backward = isinstance(around, ast.Expr) and bool(backward_calls(around))
        if runs_backward or goes_on(module.scope_of(around), around, project, depth - 1):
            return True
    return False


def _is_wanted(name: str, wanted: set[str]) -> bool:
    return name in wanted or ("." in name and name[name.rindex(".") :] in wanted)
