"""Find the names under which a script keeps gradients."""

from __future__ import annotations

import ast
from collections.abc import Iterator, Set

from analyzers.explain.keyed_entries import entries, stores
from analyzers.explain.reuse.passing import arguments
from analyzers.explain.source_locations import returns_of
from analyzers.source.calls import calls_to
from analyzers.source.flow import bindings, definitions, names_read, statements_of, walk_scope
from analyzers.source.project import Module, Project, Scope, spelled
from analyzers.source.targets import assigned_pairs, each_taken, target_names
from analyzers.source.trees import nodes_of

MAX_CALLS = 3  # that hand a gradient on
_PASSING = frozenset({"print", "zip", "enumerate", "append", "extend", "mul_", "div_"})
Computed = ast.BinOp | ast.AugAssign | ast.Call


def stored_gradients(
    module: Module, keys: set[str], project: Project
) -> Iterator[tuple[ast.stmt, ast.expr]]:
    """Yield the statements that store a gradient under one of the keys, each
    with the stored value.
    """
    for statement, value in stores(module, keys):
        fresh = fresh_names(module, module.scope_of(statement), project)
        if reads_gradient(value) or (isinstance(value, ast.Name) and value.id in fresh):
            yield statement, value


def taken_before(module: Module, keys: set[str], project: Project) -> set[ast.AST]:
    """Return where the source reads an entry under one of the keys before it stores a gradient
    there.
    """
    put = [statement for statement, _ in stored_gradients(module, keys, project)]
    return {
        node
        for node in entries(module, keys)
        if isinstance(node.ctx, ast.Load)
        and not any(s.lineno < node.lineno and _alike(module, s, node) for s in put)
    }


def _alike(module: Module, one: ast.AST, other: ast.AST) -> bool:
    return module.scope_of(one) is module.scope_of(other)


def named(module: Module, node: ast.AST, taken: Set[ast.AST]) -> set[str]:
    """Return the local names of the entries that were read."""
    return {
        target.id
        for statement in (statements_of(module.scope_of(node)) if taken else ())
        for target, value in assigned_pairs(statement)
        if value in taken and isinstance(target, ast.Name)
    }


def handed_back(
    statement: ast.stmt, project: Project, depth: int = MAX_CALLS
) -> Iterator[ast.stmt]:
    """Yield what the project's functions that are called on this line return
    or yield, recursively.
    """
    for call in nodes_of(statement, ast.Call):
        for _, function in project.functions_called(call):
            for returned in (*returns_of(function), *_yields_of(function)):
                yield returned
                value = returned.value if isinstance(returned, ast.Return) else None
                if isinstance(value, ast.Name):
                    yield from definitions(function, value.id)
                if depth > 1:
                    yield from handed_back(returned, project, depth - 1)


def _yields_of(function: ast.AST) -> list[ast.stmt]:
    statements = [node for node in walk_scope(function) if isinstance(node, ast.Expr)]
    return [*(node for node in statements if isinstance(node.value, ast.Yield))]


def holds(read: Set[str], names: Set[str]) -> bool:
    """Return True if one of the names is read; for an attribute only its last part must agree,
    because its owner has other names elsewhere.
    """
    last = {name.rpartition(".")[2] for name in names if "." in name}
    return bool(read & names) or any("." in n and n.rpartition(".")[2] in last for n in read)


def operands_of(node: Computed) -> list[ast.expr]:
    """Return the operands of a sum or product of any length, or the arguments of a call."""
    found: list[ast.expr] = []
    todo: list[ast.expr] = []
    match node:
        case ast.BinOp():
            todo = [node]
        case ast.AugAssign(target=target, op=ast.Add() | ast.Sub(), value=value):
            todo = [target, value]  # a factor is a number that was made of them: no other gradient
        case ast.Call(func=ast.Attribute(value=owner, attr=name), args=args):
            todo = [] if name in _PASSING else [owner, *args]
        case ast.Call(func=ast.Name(id=name), args=args):
            todo = [] if name in _PASSING else [*args]
    while todo:
        part = todo.pop()
        if isinstance(part, ast.BinOp):
            todo += [part.left, part.right]
        else:
            found.append(part)
    return found


def read_by(module: Module, node: ast.expr) -> set[str]:
    """Return the names that an expression reads, and for a loop variable the collection."""
    read = names_read(node)
    if isinstance(node, ast.Attribute):  # an update reads what it writes to
        read.add(spelled(node))
    for target, source in each_taken(module, node):
        if read & set(target_names(target)):
            read |= names_read(source)
    return read


def fresh_names(module: Module, scope: Scope, project: Project, depth: int = MAX_CALLS) -> set[str]:
    """Return the local names of a function that hold gradients just taken there or by functions
    that it calls.
    """
    names = {
        name
        for statement in statements_of(scope)
        if isinstance(statement, ast.Assign)
        for name in bindings(statement)
        if "." not in name and _takes_gradients(statement, project)
    }
    for caller, call in calls_to(project, getattr(scope, "name", "")) if depth else ():
        given = fresh_names(caller, caller.scope_of(call), project, depth - 1)
        names |= {
            parameter
            for parameter, value in arguments(call, module, scope)
            if reads_gradient(value) or (isinstance(value, ast.Name) and value.id in given)
        }
    return names


def _takes_gradients(statement: ast.stmt, project: Project) -> bool:
    return any(reads_gradient(part) for part in (statement, *handed_back(statement, project)))


def reads_gradient(node: ast.AST) -> bool:
    return any(
        name.endswith(".grad") and name != "torch.autograd.grad" for name in names_read(node)
    )
