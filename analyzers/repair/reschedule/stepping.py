"""Fixes for weights that a step changed under a graph that is yet to be walked."""

from __future__ import annotations

import ast
from collections.abc import Iterator, Sequence

from analyzers.explain.inplace import Stale
from analyzers.explain.pattern import Proposal
from analyzers.repair.blocks import joined, lines_with
from analyzers.repair.remake.chains import constructs
from analyzers.repair.remake.makers import is_data, made_of, makers, told
from analyzers.repair.reschedule.schedule import Schedule, released, root_names
from analyzers.repair.rewrite import copy_into, head_of, move_behind, move_into
from analyzers.source.calls import calls_named
from analyzers.source.edits import Editor
from analyzers.source.flow import bindings, bound_within, names_read, value_of
from analyzers.source.passes import pass_of
from analyzers.source.project import Loop, spelled
from analyzers.source.trees import position, walk

_FRESH = "The loss is computed from the weights as the step has left them"


def fresh_forward(stale: Stale, schedule: Schedule, rank: int = 0) -> Iterator[Proposal]:
    """The forward of the failing loss behind the step; ever more of it, as far as needed."""
    assert stale.evidence.reached is not None
    before = schedule.block[: schedule.block.index(schedule.step)]
    names = _needed_behind(schedule, root_names(stale.evidence.reached, schedule.where))
    editor = schedule.where.editor
    following = schedule.block[schedule.block.index(schedule.step) + 1]
    for chain in makers(before, names):
        along = _with_readers(chain, [*before, schedule.step])
        edits = (move_into if along else copy_into)(editor, along or chain, following)
        title = f"Compute {told(chain)} behind the step"
        yield Proposal("fresh-forward", title, joined(edits), f"{_FRESH}.", rank)
        rank += 1
        if cut := _of_constants(editor, chain[0], before[: before.index(chain[0])]):
            title += ", of what was made before as a constant"
            cost = f"{_FRESH}, and sends no gradient to what lies in front of them."
            edit = editor.insert_before(following, *cut, *editor.lines_of(*chain[1:]))
            yield Proposal("fresh-forward", title, (edit,), cost, rank)
            rank += 1


def _with_readers(
    chain: Sequence[ast.stmt], until: Sequence[ast.stmt]
) -> Sequence[ast.stmt] | None:
    """The statements, with what only gives names to what it makes of theirs: all of them can go
    behind the step. None where anything else reads them before: they have to stay, too."""
    made = {name for statement in chain for name in bindings(statement)}
    taken = list(chain)
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
    """A statement's lines, with what earlier forwards made and it calls something on detached;
    none where there is no such."""
    made = {n for s in before if (v := value_of(s)) and not is_data(v, before) for n in bindings(s)}
    calls = [n for n in ast.walk(value_of(statement) or statement) if isinstance(n, ast.Call)]
    given = [a for call in calls for a in call.args if isinstance(a, ast.Name) and a.id in made]
    if not given:
        return []
    return lines_with(editor, statement, [editor.append_to(a, ".detach()") for a in given])


def _needed_behind(schedule: Schedule, names: set[str]) -> set[str]:
    """What must be there behind the step for the walked names to be made: they, or what the
    statements up to the walk make them of."""
    at, walk_at = schedule.block.index(schedule.step), schedule.block.index(schedule.walk)
    return made_of(schedule.block[at + 1 : walk_at], names)


def steps_last(schedule: Schedule, rank: int = 1) -> Iterator[Proposal]:
    """All walks first: the step goes behind the failing one, clearing goes in front of both."""
    at, walk_at = schedule.block.index(schedule.step), schedule.block.index(schedule.walk)
    between = schedule.block[at + 1 : walk_at]
    if not all(isinstance(s, ast.Expr) for s in [schedule.step, *between]):
        return
    editor = schedule.where.editor
    stays = move_behind(editor, [schedule.step], schedule.walk)
    title = "All backwards first, then the steps"
    yield Proposal("steps-last", title, joined(stays), "", rank)
    cleared = [s for s in between if calls_named(s, "zero_grad")]
    walks = [s for s in schedule.block[:at] if calls_named(s, "backward")]
    if cleared and walks:
        edits = [*stays, *copy_into(editor, cleared, walks[-1]), *editor.delete_all(cleared)]
        yield Proposal("steps-last", title, joined(edits), "", rank + 1)


def one_step_behind(stale: Stale, schedule: Schedule, rank: int = 2) -> Iterator[Proposal]:
    """One forward for all passes of the loop: clear before it, step behind it. What names
    something of a single pass stays in it."""
    loops = schedule.where.module.loops_around(schedule.walk)
    if (
        not loops
        or not isinstance(schedule.step, ast.Expr)
        or schedule.step not in pass_of(loops[0])
    ):
        return
    loop, editor = loops[0], schedule.where.editor
    own = bound_within(loop)
    if names_read(schedule.step) & own:
        return
    cleared = [
        s
        for s in pass_of(loop)
        if isinstance(s, ast.Expr) and calls_named(s, "zero_grad") and not names_read(s) & own
    ]
    edits = editor.delete_all([*cleared, schedule.step])
    if cleared:
        edits += copy_into(editor, cleared, loop)
    edits.append(editor.insert_after(loop, *editor.lines_of(schedule.step)))
    title = "Call backward on all losses, then one step after the loop"
    cost = "One step follows the summed gradients, where there were several."
    yield Proposal("step-behind-loop", title, joined(edits), cost, rank)


def forward_in_loop(stale: Stale, schedule: Schedule, rank: int = 0) -> Iterator[Proposal]:
    """What is computed once before the loop and walked in each pass, computed in each pass."""
    loops = schedule.where.module.loops_around(schedule.walk)
    if not loops or stale.evidence.reached is None:
        return
    loop: Loop = loops[0]
    module = schedule.where.module
    block = module.block_of(loop)
    in_front = block[: block.index(loop)]
    inner = [s for node in in_front for s in walk(node) if isinstance(s, ast.stmt)]
    before = [s for s in inner if not constructs(module, s)]
    leading = schedule.block[: schedule.block.index(schedule.walk)]
    roots = root_names(stale.evidence.reached, schedule.where)
    # gradients that are cleared in front of the loop alone are meant to gather: one step behind it
    gathers = _cleared_in_front(schedule, loop, in_front)
    names = (roots if gathers else made_of(leading, roots)) - bound_within(loop)
    editor = schedule.where.editor
    for chain in makers(before, names):
        put = move_into if set(chain) <= set(in_front) else copy_into
        edits = [*put(editor, chain, head_of(loop)), *released(stale, loop)]
        title, cost = (
            f"Compute {told(chain)} inside the loop",
            "The forward runs once in each pass.",
        )
        yield Proposal("forward-into-loop", title, joined(edits), cost, rank)
        rank += 1


def _cleared_in_front(schedule: Schedule, loop: Loop, in_front: Sequence[ast.stmt]) -> bool:
    """Whether what steps in each pass is cleared in front of the loop, and not within it."""
    stepped = _owners(schedule.step, "step") - _owners(loop, "zero_grad")
    return any(_owners(s, "zero_grad") & stepped for s in in_front)


def _owners(node: ast.AST, method: str) -> set[str]:
    """What a method is called on: `optimizer` for `optimizer.step()`."""
    calls = calls_named(node, method)
    return {spelled(c.func.value) for c in calls if isinstance(c.func, ast.Attribute)}
