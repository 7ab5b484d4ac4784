"""Compute a loss from the weights as a step has left them; or cut what one iteration passes to the
next, if a step has changed its weights since.
"""

from __future__ import annotations

import ast
from collections.abc import Iterator, Sequence
from dataclasses import replace

from analyzers.explain.inplace_changes import StaleValue
from analyzers.explain.pattern import SECOND_CHOICE, Proposal
from analyzers.explain.source_locations import SourceLocation, resolve_location
from analyzers.repair.blocks import indentation, joined
from analyzers.repair.cut.carrying import carried_names, cut_lines
from analyzers.repair.cut.cutting import cut
from analyzers.repair.remake.chains import constructs
from analyzers.repair.remake.repeated_chains import computed, makers, of_constants
from analyzers.repair.reschedule.schedule import StepBeforeBackward, kept_by_library, released
from analyzers.repair.rewrite import head_of, without_retaining
from analyzers.source.calls import ZERO_GRAD, calls_of, receivers_of, steps
from analyzers.source.edits import Edit
from analyzers.source.flow import bindings, bound_within, names_read, statements_of, value_of
from analyzers.source.project import Loop, spelled
from analyzers.source.statement_ranges import ahead_of, bound_by, names_feeding
from analyzers.source.targets import assigned_pairs
from analyzers.source.trees import nodes_of, position

_FRESH = "The loss is computed from the weights as the step has left them"
_TITLE = "Detach `{}` where the next iteration begins"


def fresh_forward(schedule: StepBeforeBackward, rank: int = 0) -> Iterator[Proposal]:
    """Yield proposals that move the forward of the failing loss after the
    step, in growing parts.
    """
    before, head = schedule.before, [*schedule.between, schedule.backward][0]
    editor, where = schedule.where.editor, "after the step"
    for chain in makers(before, names_feeding(schedule.between, schedule.roots)):
        along, cost = _with_readers(chain, [*before, schedule.step]), f"{_FRESH}."
        moved = along is not None
        yield computed(
            "fresh-forward", editor, along or chain, head, where, cost, rank, moved=moved
        )
        rank += 1
        for again in of_constants(editor, chain, before[: before.index(chain[0])], head, where):
            yield replace(again, strategy="fresh-forward", rank=rank)
            rank += 1


def _with_readers(
    chain: Sequence[ast.stmt], until: Sequence[ast.stmt]
) -> Sequence[ast.stmt] | None:
    """Return the statements and those that only name their results: all of them can go after the
    step. None if anything else reads them before it, because then they must stay, too.
    """
    taken, made = list(chain), bound_by(chain)
    for statement in until:
        if position(statement) < position(chain[0]) or statement in chain:
            continue
        if made & names_read(statement):
            if statement is until[-1] or value_of(statement) is None:
                return None
            taken.append(statement)
            made |= set(bindings(statement))
    return sorted(taken, key=position)


def forward_in_loop(stale: StaleValue, schedule: StepBeforeBackward) -> Iterator[Proposal]:
    """Yield proposals that compute in each iteration what is computed once before the loop and used
    by each backward call.
    """
    for loop in schedule.loops[:1]:
        module, editor = schedule.where.module, schedule.where.editor
        preceding = ahead_of(module, loop)
        inner = [s for node in preceding for s in nodes_of(node, ast.stmt)]
        before = [s for s in inner if not constructs(module, s)]
        leading = schedule.block[: schedule.block.index(schedule.backward)]
        # gradients cleared only before the loop should accumulate: one step after it
        gathers = _cleared_before(schedule, loop, preceding)
        names = schedule.roots if gathers else names_feeding(leading, schedule.roots)
        head, cost = head_of(loop), "The forward runs once in each iteration."
        where, freed = "inside the loop", [*released(stale, loop)]
        for at, chain in enumerate(makers(before, names - bound_within(loop))):
            moved = set(chain) <= set(preceding)
            yield computed(
                "forward-into-loop", editor, chain, head, where, cost, at, moved=moved, also=freed
            )


def _cleared_before(
    schedule: StepBeforeBackward, loop: Loop, preceding: Sequence[ast.stmt]
) -> bool:
    """Return True if what steps in each iteration is cleared before the loop, and not within it."""
    stepped = receivers_of(steps(schedule.step)) - receivers_of(calls_of(loop, *ZERO_GRAD))
    return any(receivers_of(calls_of(s, *ZERO_GRAD)) & stepped for s in preceding)


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
