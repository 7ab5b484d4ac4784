"""Fixes for gradients that are never cleared: `zero_grad()` once for each step."""

from __future__ import annotations

import ast
from collections.abc import Iterator, Sequence

from analyzers.explain.pattern import Proposal
from analyzers.explain.spots import Spot
from analyzers.repair.blocks import joined
from analyzers.source.calls import calls_named, steps
from analyzers.source.edits import Edit
from analyzers.source.flow import walk_scope
from analyzers.source.project import spelled

MAX_CLEARED = 6  # names: more than a person would clear one by one


def optimizer_stepped(where: Spot) -> str | None:
    """The optimizer of the step at a place: `opt` in `opt.step()` and in `scaler.step(opt)`."""
    for call in steps(where.statement):
        if call.args and isinstance(call.args[0], ast.Name | ast.Attribute):
            return spelled(call.args[0])
        assert isinstance(call.func, ast.Attribute)
        return spelled(call.func.value)
    return None


def cleared_already(where: Spot, params: Sequence[str]) -> bool:
    """Whether the step's own block clears this optimizer, or the model that owns the parameters:
    then what was seen has another cause."""
    names = {optimizer_stepped(where), *(path.partition(".")[0] for path in params)}
    return any(
        isinstance(call.func, ast.Attribute) and spelled(call.func.value) in names
        for statement in where.block
        for call in calls_named(statement, "zero_grad")
    )


def clear_before_walk(where: Spot, rank: int = 0) -> Iterator[Proposal]:
    """`zero_grad()` in front of the backward, in place of one that stands elsewhere."""
    name = optimizer_stepped(where)
    if name is None:
        return
    before = where.block[: where.block.index(where.statement)]
    walks = [s for s in before if calls_named(s, "backward", "manual_backward")]
    target = walks[-1] if walks else where.statement
    uncalled = [found for s in where.block if (found := _uncalled(s, name)) is not None]
    edits: list[Edit] = [where.editor.append_to(s, "()") for s in uncalled]
    if not uncalled:
        line = f"{name}.zero_grad()"
        if walks:
            edits.append(where.editor.insert_before(target, line))
        else:
            edits.append(where.editor.insert_after(where.statement, line))
        edits += [where.editor.delete(s) for s in _elsewhere(where, name)]
    title = f"Clear the gradients of `{name}` before each backward"
    yield Proposal("zero-grad", title, joined(edits), "", rank)


def clear_leaves(where: Spot, leaves: Sequence[str], rank: int = 0) -> Iterator[Proposal]:
    """Gradients of leaves that the script updates itself, cleared in front of the backward: each
    by its name, those of a model by the model."""
    owners = list(dict.fromkeys(path.partition(".")[0] for path in leaves if "." in path))
    plain = [path for path in leaves if path.isidentifier()]
    lines = [f"{name}.grad = None" for name in plain] + [f"{name}.zero_grad()" for name in owners]
    if not lines or len(lines) > MAX_CLEARED:
        return
    edits = [where.editor.insert_before(where.statement, line) for line in lines]
    whose = ", ".join(f"`{name}`" for name in [*plain, *owners])
    title = f"Clear the gradients of {whose} before each backward"
    yield Proposal("clear-by-hand", title, joined(edits), "", rank)


def _uncalled(statement: ast.stmt, name: str) -> ast.expr | None:
    """`opt.zero_grad` without its parentheses."""
    if isinstance(statement, ast.Expr) and spelled(statement.value) == f"{name}.zero_grad":
        return statement.value
    return None


def _elsewhere(where: Spot, name: str) -> list[ast.stmt]:
    """Calls that clear the optimizer in an outer block of the same function."""
    outer = {id(s) for loop in where.module.loops_around(where.statement)[1:] for s in loop.body}
    return [
        node
        for node in walk_scope(where.scope)
        if isinstance(node, ast.Expr)
        and id(node) in outer
        and spelled(node.value).startswith(f"{name}.zero_grad(")
    ]
