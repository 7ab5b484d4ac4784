"""Locate a failing backward call and the step before it: the block of one
frame that leads to both.
"""

from __future__ import annotations

import ast
from collections.abc import Iterator
from dataclasses import dataclass

from analyzers.explain.inplace_changes import StaleValue
from analyzers.explain.source_locations import SourceLocation, leading_to, resolve_location
from analyzers.repair.rewrite import without_retaining
from analyzers.source.backward import BACKWARD_CALLS, backward_root
from analyzers.source.calls import calls_of
from analyzers.source.edits import Edit
from analyzers.source.flow import bindings, names_read
from analyzers.source.project import FUNCTIONS, Loop, spelled
from provenance import BackwardCall, CodeLine


@dataclass(frozen=True)
class StepBeforeBackward:
    """The failing backward call and the step before it, as statements of one block of one frame."""

    where: SourceLocation
    backward: ast.stmt
    step: ast.stmt
    block: list[ast.stmt]
    call: BackwardCall

    @property
    def straight(self) -> bool:
        """Return True if the step is between the forward and the backward
        call, in one iteration.
        """
        return self.block.index(self.step) < self.block.index(self.backward)

    @property
    def before(self) -> list[ast.stmt]:
        """Return the statements before the step."""
        return self.block[: self.block.index(self.step)]

    @property
    def between(self) -> list[ast.stmt]:
        """Return the statements between the step and the backward call."""
        return self.block[self.block.index(self.step) + 1 : self.block.index(self.backward)]

    @property
    def loops(self) -> list[Loop]:
        """Return the loops around the backward call, innermost first."""
        return self.where.module.loops_around(self.backward)

    @property
    def roots(self) -> set[str]:
        """Return the names of the failing call's root, as its frame knows it."""
        return root_names(self.call, self.where)


def schedule_of(stale: StaleValue) -> StepBeforeBackward | None:
    """Return the innermost block that leads to both. If a helper calls backward and steps, and took
    the step in an earlier call, return the block of its calls. None if the source does not show it.
    """
    backward_call, changed = stale.evidence.reached, stale.change_place
    if backward_call is None or changed is None:
        return None
    stack = (backward_call.stack or (backward_call.at,))[::-1]
    found = [_schedule_at(stale, place, changed, backward_call) for place in stack]
    earlier = [p.function == changed.function and p.frame != changed.frame for p in stack]
    around = (one for one, before in zip(found, earlier, strict=True) if one and not before)
    return next(around, None) or next((one for one in found if one is not None), None)


def _schedule_at(
    stale: StaleValue, place: CodeLine, changed: CodeLine, backward_call: BackwardCall
) -> StepBeforeBackward | None:
    where = resolve_location(stale.project, place)
    for statement, block in _blocks_around(where) if where is not None else ():
        step = leading_to(stale.project, block, changed)
        if where is None or step is None or step is statement:
            continue
        taken = resolve_location(stale.project, changed)
        if taken is None or not where.module.holds(step, taken.statement):
            # of several calls that may have taken it, the last one before the backward call
            before = block[: block.index(statement)]
            calls = [s for s in before if leading_to(stale.project, [s], changed) is not None]
            step = calls[-1] if step in calls else step
        return StepBeforeBackward(where, statement, step, block, backward_call)
    return None


def _blocks_around(where: SourceLocation) -> Iterator[tuple[ast.stmt, list[ast.stmt]]]:
    """Yield the blocks around a statement with the statement of each, innermost first."""
    node: ast.AST = where.statement
    while isinstance(node, ast.stmt) and not isinstance(node, FUNCTIONS[:2]):
        yield node, where.module.block_of(node)
        node = where.module.parents[node]


def root_names(backward_call: BackwardCall, where: SourceLocation) -> set[str]:
    """Return the names of a failing call's root, in the frame of a statement."""
    call = where.call(*BACKWARD_CALLS)
    tensor = backward_root(call) if call is not None else None
    if tensor is not None:
        return names_read(tensor)
    names = {name.partition("[")[0] for name in backward_call.root}
    return names | names_read(where.statement)


def made_before(loop: Loop, saving: SourceLocation | None) -> list[str]:
    """Return what the statement that saved the weight binds, before the loop that reads it."""
    if saving is None or saving.module.holds(loop, saving.statement):
        return []
    if saving.module.scope_of(loop) is not saving.scope:
        return []
    read = names_read(loop)
    return [name for name in bindings(saving.statement) if name in read]


def kept_by_library(stale: StaleValue, schedule: StepBeforeBackward) -> str:
    """Return the module whose call made the old graph for nothing but its own state, where a
    library keeps that state: `memory.update_state(...)`, in the loop around the backward call.
    """
    node, saving, held = stale.evidence.node, stale.saving, stale.evidence.parameter or ""
    if node is None or not node.library or saving is None or schedule.straight:
        return ""
    if not any(saving.module.holds(loop, saving.statement) for loop in schedule.loops[:1]):
        return ""
    match saving.statement:
        case ast.Expr(value=ast.Call(func=ast.Attribute(value=owner))):
            name = spelled(owner)
            return name if name and held.startswith(f"{name}.") else ""
    return ""


def released(stale: StaleValue, loop: ast.AST | None = None) -> Iterator[Edit]:
    """Yield an edit that removes `retain_graph=True` from the failing call, if it is the only one
    in an iteration of `loop`: a graph used again in the same iteration must be retained until then.
    """
    backward_call = stale.evidence.reached
    where = resolve_location(stale.project, backward_call.at if backward_call is not None else None)
    if where is not None and _only_backward(where, loop):
        yield from without_retaining(where)


def _only_backward(where: SourceLocation, loop: ast.AST | None) -> bool:
    around = loop if where.module.holds(loop, where.statement) else None
    inner = next(iter(where.module.loops_around(where.statement)), None)
    return inner is around and len(calls_of(around or where.scope, *BACKWARD_CALLS)) == 1
