"""Compute a loss from the weights as a step has left them."""

from __future__ import annotations

import ast
from collections.abc import Iterator, Sequence
from dataclasses import replace

from analyzers.explain.inplace_changes import StaleValue
from analyzers.explain.pattern import Proposal
from analyzers.repair.remake.chains import constructs
from analyzers.repair.remake.repeated_chains import computed, makers, of_constants
from analyzers.repair.reschedule.schedule import StepBeforeBackward, released
from analyzers.repair.rewrite import head_of
from analyzers.source.calls import ZERO_GRAD, calls_of, receivers_of, steps
from analyzers.source.flow import bindings, bound_within, names_read, value_of
from analyzers.source.project import Loop
from analyzers.source.statement_ranges import ahead_of, bound_by, names_feeding
from analyzers.source.trees import nodes_of, position

_FRESH = "The loss is computed from the weights as the step has left them"


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
