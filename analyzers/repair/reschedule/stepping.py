"""Fix weights that a step changed under a graph that backward still needs: a fresh forward, or all
backward calls before all steps.
"""

from __future__ import annotations

import ast
from collections.abc import Iterator, Sequence

from analyzers.explain.pattern import Proposal
from analyzers.explain.source_locations import SourceLocation
from analyzers.repair.blocks import indentation, joined
from analyzers.repair.remake.repeated_chains import makers
from analyzers.repair.reschedule.schedule import StepBeforeBackward
from analyzers.repair.rewrite import copy_into, move_after, with_keyword
from analyzers.source.callees import is_call
from analyzers.source.calls import ZERO_GRAD, calls_of, receivers_of, steps
from analyzers.source.edits import Edit, Editor
from analyzers.source.flow import bound_within, names_read
from analyzers.source.loop_iterations import body_of
from analyzers.source.project import spelled
from analyzers.source.targets import target_names

EACH_ITS_OWN = (
    "All backward calls first, then the steps; each backward for its own optimizer's parameters"
)


def steps_after_backwards(schedule: StepBeforeBackward, rank: int = 0) -> Iterator[Proposal]:
    """Yield a proposal with a second loop for the steps. If each iteration has its own optimizer,
    its backward call feeds only that optimizer's parameters, as when it was cleared, run and
    stepped alone.
    """
    loop, step, editor = next(iter(schedule.loops), None), schedule.step, schedule.where.editor
    optimizer = steps(step)[0].func if steps(step) else None
    if not isinstance(loop, ast.For) or not isinstance(optimizer, ast.Attribute):
        return
    each = [s for s in body_of(loop) if isinstance(s, ast.Expr)]
    if step not in each or not set(target_names(loop.target)) & names_read(optimizer):
        return
    moved = in_second_loop(editor, loop, step)
    backward = schedule.where.call("torch.Tensor.backward")
    if backward is not None:
        edits = [*moved, _for_its_own(editor, backward, optimizer)]
        yield Proposal("steps-last", EACH_ITS_OWN, joined(edits), "", rank)
    for statement in [s for s in each if calls_of(s, *ZERO_GRAD)][:1]:
        # in its own iteration it would clear what other backward calls left in shared weights
        ahead = editor.insert_before(loop, *_alone(editor, loop, statement))
        names_bound = "All gradients cleared first, then all backward calls, then the steps"
        edits = [editor.delete(statement), ahead, *moved]
        yield Proposal("steps-last", names_bound, joined(edits), "", rank + 2)


def all_steps_last(schedule: StepBeforeBackward) -> Iterator[Proposal]:
    """Yield a proposal that moves every step between the failing loss's forward and its backward
    call after that call, or after the last one of the block. Backward calls feed only their own
    optimizers' parameters.
    """
    block, editor = schedule.block, schedule.where.editor
    at = block.index(schedule.backward)
    made = list(makers(block[:at], schedule.roots))
    first = min(block.index(made[-1][0] if made else schedule.backward), block.index(schedule.step))
    moved = _steps_in(block[first:at])
    last = max((i for i, s in enumerate(block) if calls_of(s, "torch.Tensor.backward")), default=at)
    for end in sorted({at, last} if moved else ()):
        if kept := _for_their_own(editor, block, block.index(moved[0]), end):
            edits = [*move_after(editor, _steps_in(block[first:end]), block[end]), *kept]
            yield Proposal("steps-last", EACH_ITS_OWN, joined(edits), "", 3)


def step_after_backward(where: SourceLocation) -> Iterator[Proposal]:
    """Yield a proposal that moves the step, and adjacent ones, after the first backward call below
    it in its block; nothing if a backward call precedes it there.
    """
    block = where.block
    at = block.index(where.statement)
    backwards = [number for number, s in enumerate(block) if calls_of(s, "torch.Tensor.backward")]
    if backwards and at < backwards[0]:
        moved = _steps_in(block[: backwards[0]])
        edits = move_after(where.editor, moved, block[backwards[0]])
        yield Proposal("step-after-backward", "Step after the backward", joined(edits), "", 0)


def rescheduled(
    editor: Editor,
    moved: Sequence[ast.stmt],
    cleared: Sequence[ast.stmt],
    backwards: tuple[ast.stmt, ast.stmt],
) -> list[Edit]:
    """Return edits that move steps after the last backward call and clears before the first."""
    edits = editor.delete_all([*cleared, *moved])
    if moved:
        edits.append(editor.insert_after(backwards[1], *editor.lines_of(*moved)))
    return [*edits, *copy_into(editor, cleared, backwards[0])] if cleared else edits


def _steps_in(block: Sequence[ast.stmt]) -> list[ast.stmt]:
    return [s for s in block if isinstance(s, ast.Expr) and steps(s)]


def _for_their_own(editor: Editor, block: Sequence[ast.stmt], at: int, end: int) -> list[Edit]:
    """Return edits that restrict the backward calls of a part of the block to the parameters of the
    optimizer that steps next; none if one of them does not show which that is.
    """
    edits: list[Edit] = []
    for index, statement in enumerate(block[at : end + 1], at):
        for call in calls_of(statement, "torch.Tensor.backward"):
            own = next((c.func for s in block[index + 1 :] for c in steps(s)), None)
            if not isinstance(statement, ast.Expr) or not isinstance(own, ast.Attribute):
                return []
            edits.append(_for_its_own(editor, call, own))
    return edits


def _for_its_own(editor: Editor, backward: ast.Call, step: ast.Attribute) -> Edit:
    """Return an edit that restricts the backward call to the parameters of
    this step's optimizer.
    """
    return with_keyword(editor, backward, "inputs", parameters_of(editor, step))


def parameters_of(editor: Editor, step: ast.Attribute) -> str:
    """Return the expression of the parameters that a step (`optimizer.step`) changes."""
    return f'{editor.text_of(step.value)}.param_groups[0]["params"]'


def in_second_loop(editor: Editor, loop: ast.For, step: ast.stmt) -> list[Edit]:
    """Return edits that move the step into a loop of its own after this one."""
    return [editor.delete(step), editor.insert_after(loop, *_alone(editor, loop, step))]


def _alone(editor: Editor, loop: ast.For, statement: ast.stmt) -> list[str]:
    """Return the lines of a loop over the same collection that does nothing else."""
    target, iterated = _narrowed(editor, loop, names_read(statement))
    inner = indentation(editor.module)
    return [f"for {target} in {iterated}:", *(inner + s for s in editor.lines_of(statement))]


def _narrowed(editor: Editor, loop: ast.For, needed: set[str]) -> tuple[str, str]:
    """Return the loop's target and iterable; for a `zip`, or a dictionary's items, only the needed
    part.
    """
    match loop.target, loop.iter:
        case (
            ast.Tuple(elts=[key, value]),
            ast.Call(func=ast.Attribute(value=owner), args=[]) as call,
        ) if is_call(call, "list.items"):
            if not set(target_names(value)) & needed:
                return editor.text_of(key), editor.text_of(owner)
            if not set(target_names(key)) & needed:
                return editor.text_of(value), f"{editor.text_of(owner)}.values()"
        case ast.Tuple(elts=targets), ast.Call(func=ast.Name(id="zip"), args=parts):
            wanted = [
                (spelled(target), spelled(part))
                for target, part in zip(targets, parts, strict=False)
                if set(target_names(target)) & needed
            ]
            if len(wanted) == 1 and len(targets) == len(parts):
                return wanted[0]
    return editor.text_of(loop.target), editor.text_of(loop.iter)


def steps_last(schedule: StepBeforeBackward, rank: int = 1) -> Iterator[Proposal]:
    """Yield a proposal with all backward calls first: the step goes after the failing one, clearing
    goes before both.
    """
    step, between = schedule.step, schedule.between
    if not all(isinstance(s, ast.Expr) for s in [step, *between]):
        return
    cleared = [s for s in between if calls_of(s, *ZERO_GRAD)]
    backwards = [s for s in schedule.before if calls_of(s, "torch.Tensor.backward")]
    title, editor = "All backwards first, then the steps", schedule.where.editor
    last = [step, *backwards][-1], schedule.backward
    if backwards and any(
        receivers_of(steps(step)) & receivers_of(calls_of(s, *ZERO_GRAD)) for s in cleared
    ):
        edits = _one_step(schedule, cleared, last)  # else they erase what the step is to take
        yield Proposal("steps-last", title, joined(edits), "", rank)
        return
    for others in ([], cleared) if cleared and backwards else ([],):
        edits = rescheduled(editor, [step], others, last)
        yield Proposal("steps-last", title, joined(edits), "", rank)
        rank += 1


def _one_step(
    schedule: StepBeforeBackward, cleared: Sequence[ast.stmt], backwards: tuple[ast.stmt, ast.stmt]
) -> list[Edit]:
    """Return edits that leave one clear before the first backward call and one step after the last,
    of an optimizer that clears and steps for each call.
    """
    editor, block = schedule.where.editor, schedule.block
    first, after = block.index(schedule.step), block.index(schedule.backward)
    ahead, behind = set(map(ast.dump, block[:first])), set(map(ast.dump, block[after:]))
    moved = [schedule.step] if ast.dump(schedule.step) not in behind else []
    copied = [s for s in cleared if ast.dump(s) not in ahead]
    dropped = [s for s in [*cleared, schedule.step] if s not in [*moved, *copied]]
    return [*rescheduled(editor, moved, copied, backwards), *editor.delete_all(dropped)]


def step_after_loop(schedule: StepBeforeBackward) -> Iterator[Proposal]:
    """Yield a proposal with one step for all iterations of the loop: clear before it, step after
    it. Statements that use a single iteration's values stay in it.
    """
    loop, step = next(iter(schedule.loops), None), schedule.step
    if loop is None or not isinstance(step, ast.Expr) or step not in body_of(loop):
        return
    editor, own = schedule.where.editor, bound_within(loop)
    outside = [s for s in body_of(loop) if isinstance(s, ast.Expr) and not names_read(s) & own]
    if step not in outside:
        return
    cleared = [s for s in outside if calls_of(s, *ZERO_GRAD)]
    edits = editor.delete_all([*cleared, step])
    if cleared:
        edits += copy_into(editor, cleared, loop)
    edits.append(editor.insert_after(loop, *editor.lines_of(step)))
    title = "Call backward on all losses, then one step after the loop"
    cost = "One step follows the summed gradients, where there were several."
    yield Proposal("step-behind-loop", title, joined(edits), cost, 2)
