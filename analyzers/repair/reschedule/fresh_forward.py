"""Compute a loss from the weights as a step has left them."""

from __future__ import annotations

import ast
from collections.abc import Iterator, Sequence

from analyzers.explain.pattern import Proposal
from analyzers.repair.blocks import lines_with
from analyzers.repair.remake.repeated_chains import computed, is_data, makers, names_bound
from analyzers.repair.reschedule.schedule import StepBeforeBackward
from analyzers.source.edits import Editor
from analyzers.source.flow import bindings, names_read, value_of
from analyzers.source.statement_ranges import bound_by, names_feeding
from analyzers.source.trees import position, walk

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
        if cut := _of_constants(editor, chain[0], before[: before.index(chain[0])]):
            title = f"Compute {names_bound(chain)} {where}, of what was made before as a constant"
            cost = f"{_FRESH}, and sends no gradient to what comes before them."
            edit = editor.insert_before(head, *cut, *editor.lines_of(*chain[1:]))
            yield Proposal("fresh-forward", title, (edit,), cost, rank)
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


def _of_constants(editor: Editor, statement: ast.stmt, before: Sequence[ast.stmt]) -> list[str]:
    """Return a statement's lines with what earlier forwards computed, and it calls something on,
    detached; empty if there is none.
    """
    made = bound_by(s for s in before if (v := value_of(s)) and not is_data(v, before))
    calls = [n for n in walk(value_of(statement) or statement) if isinstance(n, ast.Call)]
    given = [a for call in calls for a in call.args if isinstance(a, ast.Name) and a.id in made]
    cuts = [editor.append_to(a, ".detach()") for a in given]
    return lines_with(editor, statement, cuts) if cuts else []
