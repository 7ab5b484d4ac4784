"""Decide whether a collection stores the same gradient repeatedly, in the iterations of a loop that
calls backward.
"""

from __future__ import annotations

import ast
from collections.abc import Iterator, Sequence

from analyzers.explain.source_locations import SourceLocation, root_of
from analyzers.source.callees import creates_object
from analyzers.source.flow import (
    bindings,
    own_expressions,
    statements_of,
    stored_into,
)
from analyzers.source.loop_iterations import iterated
from analyzers.source.project import Loop, Module
from analyzers.source.trees import nodes_of
from provenance import BackwardCall, CodeLine


def gathered(kept: Sequence[SourceLocation], backward_call: BackwardCall | None) -> bool:
    """Return True if one of these stores adds gradients to those of earlier iterations, each of
    which calls backward, and the script then reads more than the latest: all are the same tensors.
    """
    for store in _with_takers(kept):
        name, loop = _container(store.statement), _backward_loop(store, backward_call)
        if name is None or loop is None or not _made_before(store, name, loop):
            continue
        if isinstance(store.statement, ast.Assign) and not _by_iteration(
            store, store.statement, loop
        ):
            continue
        if any(_reads_all(store.module, node, name) for node in _after_loop(store, loop)):
            return True
    return False


def _with_takers(kept: Sequence[SourceLocation]) -> Iterator[SourceLocation]:
    """Yield the stores, and the statements that put a stored name into a collection unchanged:
    `rows.append(Row(slopes))` after `slopes = [...]`.
    """
    for store in kept:
        yield store
        named = {name for name in bindings(store.statement) if name.isidentifier()}
        for statement in statements_of(store.scope):
            taken = [
                node
                for node in own_expressions(statement)
                if isinstance(node, ast.Name) and isinstance(node.ctx, ast.Load)
                if node.id in named and _is_handed_on(store.module, node)
            ]
            if taken and statement is not store.statement:
                yield SourceLocation(
                    store.module, statement, CodeLine(store.place.file, statement.lineno)
                )


def _is_handed_on(module: Module, node: ast.AST) -> bool:
    """Return True if nothing is computed from it on its way into a collection; constructing an
    object does not count.
    """
    parent = module.parents.get(node)
    match parent:
        case ast.Tuple() | ast.List() | ast.Dict() | ast.keyword():
            return _is_handed_on(module, parent)
        case ast.Call() if stored_into(parent) is not None:
            return True
        case ast.Call():
            return creates_object(parent) and _is_handed_on(module, parent)
    return isinstance(parent, ast.stmt)


def _container(statement: ast.stmt) -> str | None:
    """Return `rows` for `rows.append(...)` and for `rows[task] = ...`."""
    match statement:
        case ast.Expr(value=value):
            return stored_into(value)
        case ast.Assign(targets=[ast.Subscript(value=ast.Name(id=name))]):
            return name
    return None


def _by_iteration(store: SourceLocation, statement: ast.Assign, loop: Loop) -> bool:
    """Return True if the key of an entry changes with the loop's iterations."""
    key = statement.targets[0]
    through = iterated(loop, store.scope)
    passing = through.names if through is not None else set()
    read = {node.id for node in nodes_of(key, ast.Name)}
    return bool(read & passing)


def _backward_loop(store: SourceLocation, backward_call: BackwardCall | None) -> Loop | None:
    """Return the innermost loop around the store that also contains the backward call."""
    lines = (
        [p.line for p in backward_call.stack if p.file == store.place.file]
        if backward_call is not None
        else []
    )
    for loop in store.module.loops_around(store.statement):
        if any(loop.lineno <= line <= (loop.end_lineno or line) for line in lines):
            return loop
    return None


def _made_before(store: SourceLocation, name: str, loop: Loop) -> bool:
    """Return True if the collection is created outside the loop, so that each iteration sees
    earlier entries.
    """
    made = [
        s
        for s in statements_of(store.scope)
        if s is not store.statement and not isinstance(s, ast.Expr) and name in bindings(s)
    ]
    return bool(made) and not any(store.module.holds(loop, s) for s in made)


def _after_loop(store: SourceLocation, loop: Loop) -> list[ast.stmt]:
    end = loop.end_lineno or loop.lineno
    return [s for s in statements_of(store.scope) if s.lineno > end]


def _reads_all(module: Module, statement: ast.stmt, name: str) -> bool:
    """Return True if the statement reads the collection, not only its last entry or its length."""
    for node in own_expressions(statement):
        if isinstance(node, ast.Name) and node.id == root_of(name):
            if not isinstance(node.ctx, ast.Load):
                continue
            match module.parents.get(node):
                case ast.Subscript(slice=ast.UnaryOp(op=ast.USub())):
                    continue
                case ast.Call(func=ast.Name(id="len")):
                    continue
                case ast.Attribute(attr="clear" | "append"):
                    continue
            return True
    return False
