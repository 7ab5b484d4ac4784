"""Decide whether a script takes stored gradients for those of an earlier time."""

from __future__ import annotations

import ast
from collections.abc import Set

from analyzers.evidence import SilentFault
from analyzers.explain.gradient_names import (
    Computed,
    fresh_names,
    holds,
    named,
    operands_of,
    read_by,
    reads_gradient,
    taken_before,
)
from analyzers.explain.keyed_entries import keys_of, without_entries
from analyzers.explain.source_locations import names_held, resolve_location, root_of
from analyzers.source.calls import ZERO_GRAD, calls_of, own_calls, steps
from analyzers.source.detached import WITHOUT_GRAPH
from analyzers.source.flow import bindings, names_read, statements_of
from analyzers.source.project import Module, Project, Scope, spelled
from analyzers.source.recording import recorded
from analyzers.source.statement_ranges import statements_after
from analyzers.source.targets import assigned_pairs, each_taken, taken_by, target_names
from analyzers.source.trees import nodes_of, walk
from analyzers.source.writes import writes_in_place

_NOT_RECORDED = WITHOUT_GRAPH | {"grad"}  # of a parameter: no graph is made of them


def taken_as_old(fault: SilentFault, project: Project) -> bool:
    """Return True if the script treats a stored gradient as an old one although it is the current
    tensor: it combines it with current gradients; or it combines what was stored for long with
    parameters for a later backward call; or it reads what it took between two backward calls only
    after the second.
    """
    paths = names_held(fault.holders)
    if any(_taken_between(fault, project, name) for name in without_entries(paths)):
        return True
    plain = {root_of(name) for name in without_entries(paths)}
    for module in project.modules.values():
        taken = taken_before(module, keys_of(paths), project)
        for node in module.nodes:
            nested = isinstance(node, ast.BinOp) and isinstance(module.parents[node], ast.BinOp)
            if nested or not isinstance(node, Computed):
                continue
            operands = operands_of(node)
            own_names = plain | named(module, node, taken)
            names = own_names | _computed_after(fault, module, node, own_names, project)
            read = [read_by(module, operand) for operand in operands]
            whole = [not taken.isdisjoint(walk(operand)) for operand in operands]
            kept = [holds(one, names) or own for one, own in zip(read, whole, strict=True)]
            if not any(kept) or _is_rebound(fault, own_names, module, node):
                continue
            fresh = fresh_names(module, module.scope_of(node), project) - names
            fresh |= _computed_after(fault, module, node, fresh, project) - names
            now = [any(n.endswith(".grad") or n in fresh for n in one) for one in read]
            if any(now) and (now != kept or sum(now) > 1):
                return True
            others = [o for o, mine in zip(operands, kept, strict=True) if not mine]
            if not fault.doubtful and isinstance(node, ast.BinOp) and recorded(module, node):
                if any(_of_parameters(module, other) for other in others):
                    return True
    return False


def _taken_between(fault: SilentFault, project: Project, name: str) -> bool:
    """Return True if a function names gradients after one backward call, calls backward again, and
    only then reads the name: it expects what the first call left. A name that is written to is a
    handle.
    """
    where = resolve_location(project, fault.call.at) if fault.call is not None else None
    if where is None or "." in name:
        return False
    block, at_backward = where.block, where.block.index(where.statement)
    taken = [n for n, s in enumerate(block[:at_backward]) if name in bindings(s)]
    if not taken or not reads_gradient(block[taken[-1]]):
        return False
    before, between = block[: taken[-1]], block[taken[-1] + 1 : at_backward]
    ran_before = any(calls_of(s, "torch.Tensor.backward") for s in before)
    calls = [call for s in between for call in [*steps(s), *calls_of(s, *ZERO_GRAD)]]
    uses = [s for s in block[at_backward + 1 :] if name in names_read(s)]
    early = any(name in names_read(s) for s in between)
    return (
        ran_before and bool(uses) and not (calls or early or any(_writes_to(s, name) for s in uses))
    )


def _writes_to(statement: ast.stmt, name: str) -> bool:
    """Return True if a statement that reads the name writes in place to it or to a part of it."""
    if isinstance(statement, ast.AugAssign) and root_of(spelled(statement.target)) == name:
        return True
    items = {
        item
        for loop in nodes_of(statement, ast.For)
        for target, source in taken_by(loop)
        if name in names_read(source)
        for item in target_names(target)
    }
    return any(
        writes_in_place(node.attr) and not names_read(node.value).isdisjoint({name, *items})
        for node in nodes_of(statement, ast.Attribute)
    )


def _computed_after(
    fault: SilentFault, module: Module, node: ast.AST, names: Set[str], project: Project
) -> set[str]:
    """Return what the function computes from the names after the call that overwrote them: `a, b =
    flat(before), flat(now)`; everything that it computes if it is called after that call.
    """
    scope = module.scope_of(node)
    written = _written_in(fault, module, scope)
    if not written and _is_called_after(fault, getattr(scope, "name", ""), project):
        written = [0]
    return {
        name
        for statement in statements_of(scope)
        if written and statement.lineno > written[-1]
        for target, value in assigned_pairs(statement)
        if names & names_read(value)
        for name in target_names(target)
    }


def _is_called_after(fault: SilentFault, name: str, project: Project) -> bool:
    """Return True if the block of the call that overwrote the stored gradients calls a function
    later.
    """
    where = resolve_location(project, fault.call.at) if fault.call is not None else None
    later = statements_after(where.module, where.statement) if where is not None and name else []
    return any(own_calls(statement, name) for statement in later)


def _written_in(fault: SilentFault, module: Module, scope: Scope) -> list[int]:
    """Return the lines of a function from which the overwriting call was made."""
    return [
        place.line
        for place in (fault.call.stack if fault.call is not None else ())
        if (statement := _at(module, place.file, place.line))
        and module.scope_of(statement) is scope
    ]


def _is_rebound(
    fault: SilentFault, names: Set[str], module: Module, node: ast.expr | ast.stmt
) -> bool:
    """Return True if plain names are rebound between the overwriting call and this expression,
    which then reads the new gradients.
    """
    if fault.call is None or any("." in name for name in names):
        return False
    scope, read = module.scope_of(node), node.lineno
    written = _written_in(fault, module, scope)
    if not written:
        return False
    bound = [s.lineno for s in statements_of(scope) if names & set(bindings(s))]
    if written[-1] <= read:
        return any(written[-1] <= line < read for line in bound)
    around = [loop for loop in module.loops_around(node) if _within(loop, written[-1])]
    again = [line for line in bound if around and _within(around[0], line)]
    return not around or any(line >= written[-1] or line < read for line in again)


def _at(module: Module, file: str, line: int) -> ast.stmt | None:
    return module.statement_at(line) if file == module.path else None


def _within(loop: ast.stmt, line: int) -> bool:
    return loop.lineno <= line <= (loop.end_lineno or line)


def _of_parameters(module: Module, node: ast.expr) -> bool:
    """Return True if the expression uses a loop variable over `parameters()`."""
    looped = {
        name
        for target, source in each_taken(module, node)
        for name in target_names(target)
        if any(n.endswith("parameters") for n in names_read(source))
    }
    return any(
        part.id in looped and getattr(module.parents[part], "attr", "") not in _NOT_RECORDED
        for part in nodes_of(node, ast.Name)
    )
