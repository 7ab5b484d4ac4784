"""Recognise scripts that use gradients after each backward call although nothing clears them."""

from __future__ import annotations

import ast
from collections.abc import Iterator, Sequence

from analyzers.explain.source_locations import SourceLocation, root_of
from analyzers.source.callees import operation
from analyzers.source.calls import PARAMETERS, calls_of
from analyzers.source.flow import bindings, stored_into, walk_scope
from analyzers.source.project import Module, spelled
from analyzers.source.trees import nodes_of, position, walk

_NUMBERS = ("norm", "vector_norm", "item", "float", "max", "min", "mean", "print", "isfinite")


def handed_on(where: SourceLocation, leaves: Sequence[str]) -> bool:
    """Return True if the gradients that the backward call at this place leaves in some leaves are
    returned, collected or passed on each time, before the next backward call.

    A read under a condition, or after the loop, intends the sum; so does one that only looks at a
    number.
    """
    handed: set[str] = set()
    for statement in _each_time(where):
        if not _hands_on(statement, handed, leaves, where.module):
            continue
        if _gives_away(statement):
            return True
        handed |= {name for name in bindings(statement) if name.isidentifier()}
    return False


def of_inputs(module: Module) -> bool:
    """Return True if a function that calls backward reads the gradient of something that it binds
    itself: an input that ascends the loss.
    """
    for run in calls_of(module.tree, "torch.Tensor.backward"):
        scope = walk_scope(module.scope_of(run))
        made = {name for node in scope if isinstance(node, ast.Assign) for name in bindings(node)}
        if any(
            isinstance(node, ast.Attribute)
            and node.attr == "grad"
            and isinstance(node.ctx, ast.Load)
            and spelled(node.value) in made
            for node in scope
        ):
            return True
    return False


def _each_time(where: SourceLocation) -> Iterator[ast.stmt]:
    """Yield the statements that follow the backward call unconditionally, in its loop or else its
    function.
    """
    loops = where.module.loops_around(where.statement)
    if not loops and isinstance(where.scope, ast.Module):
        return
    outer: list[ast.stmt] = getattr(loops[0] if loops else where.scope, "body", [])
    after = [*where.block, *(outer if outer is not where.block else [])]
    pending = [s for s in after if position(s) > position(where.statement)][::-1]
    while pending:
        statement = pending.pop()
        yield statement
        if isinstance(statement, ast.For | ast.With):
            pending += statement.body[::-1]


def _hands_on(statement: ast.stmt, handed: set[str], leaves: Sequence[str], module: Module) -> bool:
    """Return True if it reads the gradient of one of the leaves, or a name that holds one."""
    return any(
        (isinstance(node, ast.Name) and isinstance(node.ctx, ast.Load) and node.id in handed)
        or (
            isinstance(node, ast.Attribute)
            and node.attr == "grad"
            and isinstance(node.ctx, ast.Load)
            and _is_of(node.value, leaves, module)
        )
        for part in ast.iter_child_nodes(statement)
        if not isinstance(part, ast.stmt)
        for node in _but_numbers(part)
    )


def _but_numbers(node: ast.AST) -> Iterator[ast.AST]:
    """Yield the expression's nodes, without those from which only a number is computed."""
    pending = [node]
    while pending:
        inner = pending.pop()
        if isinstance(inner, ast.Call) and operation(inner) in _NUMBERS:
            continue
        if isinstance(inner, ast.Compare):
            continue
        yield inner
        pending += ast.iter_child_nodes(inner)


def _is_of(owner: ast.expr, leaves: Sequence[str], module: Module) -> bool:
    """Return True if this is one of the leaves, by its name or as one of a model's parameters."""
    name = spelled(owner)
    if name in leaves:
        return True
    sources = [
        source
        for around in module.ancestors(owner)
        for target, source in _loops(around)
        if name in {spelled(node) for node in walk(target)}
    ]
    roots = {root_of(leaf) for leaf in leaves}
    return any(spelled(s) in roots or calls_of(s, *PARAMETERS) for s in sources)


def _loops(node: ast.AST) -> list[tuple[ast.expr, ast.expr]]:
    if isinstance(node, ast.For):
        return [(node.target, node.iter)]
    return [(g.target, g.iter) for g in getattr(node, "generators", [])]


def _gives_away(statement: ast.stmt) -> bool:
    """Return True if it returns the value, stores it, adds it to a sum, or assigns it to another
    object.
    """
    match statement:
        case ast.Return():
            return True
        case ast.Expr(value=value):
            return isinstance(value, ast.Yield) or stored_into(value) is not None
        case ast.AugAssign(target=target, value=value):
            return spelled(target).partition(".")[0] not in {
                spelled(node.value) for node in nodes_of(value, ast.Attribute)
            }
        case ast.Assign(targets=targets):
            return any(isinstance(target, ast.Attribute | ast.Subscript) for target in targets)
    return False
