"""Fixes that cut what one pass hands to the next, where a step has changed its weights since."""

from __future__ import annotations

import ast
from collections.abc import Iterator, Sequence

from analyzers.explain.inplace import Stale
from analyzers.explain.pattern import Proposal
from analyzers.repair.blocks import indentation, joined
from analyzers.repair.cut.carrying import (
    carried_attributes,
    carried_names,
    cut_lines,
)
from analyzers.repair.cut.cutting import cut
from analyzers.repair.reschedule.schedule import Schedule, released, root_names
from analyzers.repair.rewrite import head_of
from analyzers.source.edits import Edit
from analyzers.source.flow import assigned_parts, statements_of
from analyzers.source.project import Loop, spelled


def detach_carried(stale: Stale, schedule: Schedule, rank: int = 0) -> Iterator[Proposal]:
    """What one pass hands to the next, cut at the head of the loop; the graph not kept."""
    loops = schedule.where.module.loops_around(schedule.walk)
    evidence = stale.evidence
    if not loops or evidence.reached is None:
        return
    editor = schedule.where.editor
    names = carried_names(loops[0], root_names(evidence.reached, schedule.where))
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
