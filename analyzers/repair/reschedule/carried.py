"""Fixes that cut what one pass hands to the next, where a step has changed its weights since."""

from __future__ import annotations

import ast
from collections.abc import Iterator, Sequence

from analyzers.explain.inplace import Stale
from analyzers.explain.pattern import Proposal
from analyzers.repair.blocks import indentation, joined
from analyzers.repair.cut.carrying import (
    begins_as_leaf,
    carried_attributes,
    carried_names,
    cut_lines,
)
from analyzers.repair.cut.cutting import cut
from analyzers.repair.reschedule.schedule import Schedule, released, root_names
from analyzers.repair.rewrite import head_of
from analyzers.source.edits import Edit
from analyzers.source.flow import assigned_parts, bindings, statements_of
from analyzers.source.project import Loop, pass_of, spelled
from analyzers.source.trees import position


def detach_carried(stale: Stale, schedule: Schedule, rank: int = 0) -> Iterator[Proposal]:
    """What one pass hands to the next, cut at the head of the loop; the graph not kept."""
    loops = schedule.where.module.loops_around(schedule.walk)
    evidence = stale.evidence
    if not loops or evidence.reached is None:
        return
    editor = schedule.where.editor
    names = carried_names(loops[0], root_names(evidence.reached, schedule.where))
    if schedule.block is not pass_of(loops[0]):
        yield from _cut_all(stale, schedule, names, rank)
    for name in names:
        yield from _cut_where_kept(stale, schedule, loops[0], name, rank)
        for lines in cut_lines(schedule.where.scope, name, indentation(schedule.where.module)):
            edits = [editor.insert_before(head_of(loops[0]), *lines)]
            yield _cut(name, [*edits, *released(stale, loops[0])], rank)
            rank += 1


def _cut_where_kept(
    stale: Stale, schedule: Schedule, loop: Loop, name: str, rank: int
) -> Iterator[Proposal]:
    """What the loop puts into a structure for later passes, detached as it goes in."""
    editor = schedule.where.editor
    edits = [
        editor.append_to(part, ".detach()")
        for statement in statements_of(loop)
        for target, part in assigned_parts(statement)
        if spelled(target).startswith(f"{name}[") and isinstance(part, ast.Name | ast.Attribute)
    ]
    if edits:
        yield _cut(name, [*edits, *released(stale, loop)], rank)


def _cut_all(
    stale: Stale, schedule: Schedule, names: Sequence[str], rank: int
) -> Iterator[Proposal]:
    """All that passes hand on, cut behind the step of a window; a leaf goes on as a leaf."""
    scope = schedule.where.scope
    step = position(schedule.step)
    begun_anew = {name for s in schedule.block for name in bindings(s) if position(s) > step}
    lines: list[str] = []
    names = [name for name in names if name not in begun_anew]
    for name in names:
        variants = [line for found in cut_lines(scope, name) for line in found if "=" in line]
        if variants:
            leaf = ".requires_grad_()" if begins_as_leaf(scope, name) else ""
            lines.append(variants[0].strip() + leaf)
    if len(lines) < 2:
        return
    edit = schedule.where.editor.insert_after(schedule.step, *lines)
    told = "` and `".join(names)
    loop = schedule.where.module.loops_around(schedule.walk)[0]
    yield _cut(told, [edit, *released(stale, loop)], rank)


def detach_attributes(stale: Stale, rank: int = 1) -> Iterator[Proposal]:
    """What an object hands to the next call, cut where the call begins to read it."""
    where = stale.saving
    if where is None:
        return
    for name, first in carried_attributes(where):
        for lines in cut_lines(where.module.tree, name, indentation(where.module)):
            edits = [where.editor.insert_before(first, *lines)]
            yield _cut(name, [*edits, *released(stale)], rank)
            rank += 1


def _cut(name: str, edits: Sequence[Edit], rank: int) -> Proposal:
    title = f"Detach `{name}` where the next pass begins"
    return cut("detach-carried", title, joined(edits), rank)
