"""Cut what one iteration passes to the next, if a step has changed its weights since."""

from __future__ import annotations

import ast
from collections.abc import Iterator

from analyzers.explain.inplace_changes import StaleValue
from analyzers.explain.pattern import SECOND_CHOICE, Proposal
from analyzers.explain.source_locations import SourceLocation, resolve_location
from analyzers.repair.blocks import indentation, joined
from analyzers.repair.cut.carrying import carried_names, cut_lines
from analyzers.repair.cut.cutting import cut
from analyzers.repair.reschedule.schedule import StepBeforeBackward, kept_by_library, released
from analyzers.repair.rewrite import head_of, without_retaining
from analyzers.source.edits import Edit
from analyzers.source.flow import statements_of
from analyzers.source.project import Loop, spelled
from analyzers.source.targets import assigned_pairs

_TITLE = "Detach `{}` where the next iteration begins"


def detach_carried(stale: StaleValue, schedule: StepBeforeBackward) -> Iterator[Proposal]:
    """Yield proposals that cut carried values at the head of the loop, and do
    not retain the graph.
    """
    where, rank = schedule.where, 0
    for loop in schedule.loops[:1]:
        freed = [*released(stale, loop)]
        if owner := kept_by_library(stale, schedule):
            step, title = indentation(where.module), f"Detach what `{owner}` keeps"
            buffers = [f"for buffer in {owner}.buffers():", f"{step}buffer.detach_()"]
            for cuts in ([f"{owner}.detach()"], buffers):  # the library's own method, if it has one
                edits = joined([where.editor.insert_before(head_of(loop), *cuts), *freed])
                yield cut("detach-carried", title, edits, rank)
                rank += 1
        for name in carried_names(loop, schedule.roots):
            if stored := _where_kept(where, loop, name):
                yield cut("detach-carried", _TITLE.format(name), joined([*stored, *freed]), rank)
            for lines in cut_lines(where.scope, name, indentation(where.module)):
                edits = joined([where.editor.insert_before(head_of(loop), *lines), *freed])
                yield cut("detach-carried", _TITLE.format(name), edits, rank)
                rank += 1


def freed_again(stale: StaleValue) -> Iterator[Proposal]:
    """Yield a proposal that frees the graph in the call that retained it, so that the next run
    shows what still leads into it.
    """
    backward_call = stale.evidence.reached
    where = resolve_location(stale.project, backward_call.at if backward_call is not None else None)
    if edits := [*without_retaining(where)]:
        title = "Free each graph after its backward"
        yield Proposal("release", title, joined(edits), "", SECOND_CHOICE - 1, half=True)


def _where_kept(where: SourceLocation, loop: Loop, name: str) -> list[Edit]:
    """Return edits that detach what the loop stores for later iterations."""
    return [
        where.editor.append_to(part, ".detach()")
        for statement in statements_of(loop)
        for target, part in assigned_pairs(statement)
        if spelled(target).startswith(f"{name}[") and isinstance(part, ast.Name | ast.Attribute)
    ]
