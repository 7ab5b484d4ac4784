"""Find escapes: tensors that an iteration passes to an object that keeps them
(`bank.push(key)`).
"""

from __future__ import annotations

import ast
from collections.abc import Iterator

from analyzers.evidence import GraphReuse
from analyzers.explain.pattern import GraphCarrier
from analyzers.explain.source_locations import hops_at, resolve_location
from analyzers.source.callees import own_name
from analyzers.source.calls import calls_of, calls_to
from analyzers.source.detached import names_attached
from analyzers.source.flow import bindings, names_read, statements_of, value_of
from analyzers.source.project import Module, Project, spelled
from analyzers.source.reads import reads_after
from analyzers.source.signatures import positional
from analyzers.source.targets import assigned_pairs, taken_by, target_names
from analyzers.source.trees import nodes_of
from provenance import Binding, CodeLine


def handed_for_good(
    reuse: GraphReuse, project: Project
) -> Iterator[tuple[Module, ast.expr, Binding]]:
    """Yield the arguments by which a run saw an old value enter functions that are called only for
    what they store (their result is unused), each with the value's binding.
    """
    for binding, given in hops_at(project, reuse.path, "argument"):
        before = reuse.path[: reuse.path.index(binding)]
        known = [
            (h, resolve_location(project, h.at))
            for h in before
            if {*h.carries} & {*binding.carries}
        ]
        for module, call in calls_to(project, getattr(given.statement, "name", "")):
            scope = module.scope_of(call)
            here = {h.name: h for h, where in known if where is not None and where.scope is scope}
            if isinstance(module.parents.get(call), ast.Expr):
                for argument in (*call.args, *(keyword.value for keyword in call.keywords)):
                    if (held := here.get(spelled(argument))) is not None:
                        yield module, argument, held


def handings(
    project: Project, module: Module, region: ast.AST, name: str
) -> Iterator[GraphCarrier]:
    """Yield what keeps the tensor called `name` where a region of the module passes it to a method
    that stores it, or where a function computes from it what its object keeps and the function does
    not read again.
    """
    for call in nodes_of(region, ast.Call):
        if not isinstance(call.func, ast.Attribute):
            continue
        for position, argument in enumerate(call.args):
            if spelled(argument) != name:
                continue
            for keeper, method in _methods(project, own_name(call)):
                kept = _kept(method, _parameter(method, position))
                if kept is not None:
                    attribute, statement = kept
                    path = f"{spelled(call.func.value)}.{attribute}"
                    place = CodeLine(keeper.path, statement.lineno, method.name)
                    yield GraphCarrier(path, place, "attribute")
    if isinstance(region, ast.FunctionDef):
        yield from _kept_by_itself(module, region, name)


def _kept_by_itself(module: Module, function: ast.FunctionDef, name: str) -> Iterator[GraphCarrier]:
    """Yield what a function computes from the tensor only for its object's next iteration."""
    for statement in statements_of(function):
        for target, value in assigned_pairs(statement):
            own = spelled(target)
            made = own.startswith("self.") and name in names_attached(value)
            if made and not reads_after(function, statement, own):
                place = CodeLine(module.path, statement.lineno, function.name)
                yield GraphCarrier(own, place, "attribute")


def arguments_kept(project: Project, call: ast.Call) -> list[ast.expr]:
    """Return the call's arguments that a method of this name in the script stores in its object."""
    given: list[tuple[int | str | None, ast.expr]] = [*enumerate(call.args)]
    given += [(keyword.arg, keyword.value) for keyword in call.keywords]
    methods = [method for _, method in _methods(project, own_name(call))]
    return [
        argument
        for key, argument in given
        if any(_kept(m, _parameter(m, key) if isinstance(key, int) else key) for m in methods)
    ]


def _parameter(method: ast.FunctionDef, position: int) -> str | None:
    """Return the parameter after `self` that takes the argument at a position."""
    parameters = positional(method)[1:]
    return parameters[position] if position < len(parameters) else None


def _methods(project: Project, name: str) -> Iterator[tuple[Module, ast.FunctionDef]]:
    for module, owner in project.each(ast.ClassDef):
        for method in owner.body:
            if isinstance(method, ast.FunctionDef) and method.name == name:
                yield module, method


def _kept(method: ast.FunctionDef, parameter: str | None) -> tuple[str, ast.stmt] | None:
    """Return the attribute that stores the argument and the statement that does it, followed
    through the method's own names; None if none does.
    """
    if parameter is None or not method.args.args:
        return None
    own = f"{method.args.args[0].arg}."
    tainted = {parameter}
    for _ in range(2):  # twice, for what a loop passes to its next iteration
        for statement in statements_of(method):
            taken = [name for name, given in _moved(statement) if given & tainted]
            if not taken and isinstance(
                statement, ast.Assign
            ):  # the name denotes another value now
                tainted -= set(bindings(statement))
            for name in taken:
                if name.startswith(own):
                    return name.removeprefix(own).partition("[")[0], statement
                tainted.add(name)
    return None


def _moved(statement: ast.stmt) -> Iterator[tuple[str, set[str]]]:
    """Yield what a statement binds, each with the names that it depends on."""
    pairs = taken_by(statement) if isinstance(statement, ast.For) else assigned_pairs(statement)
    if len(pairs) > 1:
        yield from ((name, names_read(v)) for t, v in pairs for name in target_names(t))
    else:
        yield from ((name, _given(statement)) for name in _taken(statement))


def _given(statement: ast.stmt) -> set[str]:
    """Return the names that a statement's bound value depends on."""
    if isinstance(statement, ast.For):
        return names_read(statement.iter)
    if isinstance(statement, ast.Expr) and isinstance(statement.value, ast.Call):
        return set().union(*(names_read(argument) for argument in statement.value.args))
    value = value_of(statement)
    if value is None or any(
        not call.args for call in calls_of(value, "torch.Tensor.detach", "torch.Tensor.item")
    ):
        return set()
    return names_read(value)


def _taken(statement: ast.stmt) -> list[str]:
    if isinstance(statement, ast.For):
        return list(target_names(statement.target))
    return bindings(statement)
