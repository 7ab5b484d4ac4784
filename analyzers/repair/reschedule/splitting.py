"""Walks and steps by turns, split: all walks, then all steps."""

from __future__ import annotations

import ast
from collections.abc import Iterator, Sequence

from analyzers.explain.inplace import Stale
from analyzers.explain.pattern import Proposal
from analyzers.repair.blocks import indentation, joined
from analyzers.repair.remake.makers import makers
from analyzers.repair.reschedule.schedule import Schedule, root_names
from analyzers.repair.rewrite import move_behind, with_keyword
from analyzers.source.calls import calls_named, steps
from analyzers.source.edits import Edit, Editor
from analyzers.source.flow import names_read
from analyzers.source.passes import pass_of
from analyzers.source.project import spelled
from analyzers.source.targets import target_names


def steps_behind_walks(schedule: Schedule, rank: int = 0) -> Iterator[Proposal]:
    """A second loop for the steps. Where each pass has an optimizer of its own, its walk leaves
    gradients in that one's parameters only, as when it was cleared, walked and stepped alone."""
    module, editor = schedule.where.module, schedule.where.editor
    loops = module.loops_around(schedule.walk)
    stepped = steps(schedule.step)
    if not loops or not isinstance(loops[0], ast.For) or not stepped:
        return
    loop = loops[0]
    optimizer = stepped[0].func
    if schedule.step not in pass_of(loop) or not isinstance(schedule.step, ast.Expr):
        return
    if not isinstance(optimizer, ast.Attribute) or not _depends(loop, optimizer):
        return
    moved = in_second_loop(editor, loop, schedule.step)
    walk = schedule.where.call("backward")
    title = "All backward calls first, then the steps"
    if walk is not None:
        kept = _for_its_own(editor, walk, optimizer)
        told = f"{title}; each backward for its own optimizer's parameters"
        yield Proposal("steps-last", told, joined([*moved, kept]), "", rank)
        rank += 1
    yield Proposal("steps-last", title, joined(moved), "", rank)
    cleared = [s for s in pass_of(loop) if isinstance(s, ast.Expr) and calls_named(s, "zero_grad")]
    for statement in cleared[:1]:
        # in its own pass it would take away what other walks have left in weights that are shared
        edits = [*in_loop_in_front(editor, loop, statement), *moved]
        told = "All gradients cleared first, then all backward calls, then the steps"
        yield Proposal("steps-last", told, joined(edits), "", rank + 1)


def all_steps_last(stale: Stale, schedule: Schedule, rank: int = 2) -> Iterator[Proposal]:
    """Every step between the failing loss's forward and its walk goes behind that walk, or behind
    the last one of the block. Walks leave gradients in their own optimizers' parameters only, or
    wherever they lead."""
    block, visit = schedule.block, stale.evidence.reached
    at = block.index(schedule.walk)
    made = list(makers(block[:at], root_names(visit, schedule.where))) if visit is not None else []
    first = min(block.index(made[-1][0] if made else schedule.walk), block.index(schedule.step))
    editor = schedule.where.editor
    moved = _steps_in(block[first:at])
    title = "All backward calls first, then the steps"
    if len(moved) > 1:  # one alone is what `steps_last` moves
        edits = move_behind(editor, moved, schedule.walk)
        yield Proposal("steps-last", title, joined(edits), "", rank)
    last = max((i for i, s in enumerate(block) if calls_named(s, "backward")), default=at)
    for end in sorted({at, last} if moved else ()):
        behind = _steps_in(block[first:end])
        kept = _for_their_own(editor, block, block.index(moved[0]), end)
        if kept:
            edits = [*move_behind(editor, behind, block[end]), *kept]
            told = f"{title}; each backward for its own optimizer's parameters"
            yield Proposal("steps-last", told, joined(edits), "", rank + 1)


def _steps_in(block: Sequence[ast.stmt]) -> list[ast.stmt]:
    return [s for s in block if isinstance(s, ast.Expr) and steps(s)]


def _for_their_own(editor: Editor, block: Sequence[ast.stmt], at: int, end: int) -> list[Edit]:
    """The walks of a stretch of the block, each for the parameters of the optimizer that steps
    next behind it; none where one of them does not show which that is."""
    edits: list[Edit] = []
    for index, statement in enumerate(block[at : end + 1], at):
        for call in calls_named(statement, "backward"):
            own = next((c.func for s in block[index + 1 :] for c in steps(s)), None)
            if not isinstance(statement, ast.Expr) or not isinstance(own, ast.Attribute):
                return []
            edits.append(_for_its_own(editor, call, own))
    return edits


def _for_its_own(editor: Editor, walk: ast.Call, step: ast.Attribute) -> Edit:
    """The walk, for the parameters of the optimizer of this step."""
    own = f'{editor.text_of(step.value)}.param_groups[0]["params"]'
    return with_keyword(editor, walk, "inputs", own)


def _depends(loop: ast.For, optimizer: ast.Attribute) -> bool:
    """Whether each pass steps another optimizer."""
    return bool(set(target_names(loop.target)) & names_read(optimizer))


def in_second_loop(editor: Editor, loop: ast.For, step: ast.Expr) -> list[Edit]:
    """The step out of the loop, and into one of its own behind it."""
    return [editor.delete(step), editor.insert_after(loop, *_alone(editor, loop, step))]


def in_loop_in_front(editor: Editor, loop: ast.For, clearing: ast.Expr) -> list[Edit]:
    """A statement out of the loop, and into one of its own in front of it."""
    return [editor.delete(clearing), editor.insert_before(loop, *_alone(editor, loop, clearing))]


def _alone(editor: Editor, loop: ast.For, statement: ast.Expr) -> list[str]:
    """The lines of a loop over the same that does nothing else."""
    target, iterated = _narrowed(editor, loop, names_read(statement))
    inner = indentation(editor.module)
    return [f"for {target} in {iterated}:", *(inner + s for s in editor.lines_of(statement))]


def _narrowed(editor: Editor, loop: ast.For, needed: set[str]) -> tuple[str, str]:
    """The loop's target and iterable; of a `zip`, or a dictionary's items, only the part that is
    needed."""
    match loop.target, loop.iter:
        case (
            ast.Tuple(elts=[key, value]),
            ast.Call(func=ast.Attribute(value=owner, attr="items"), args=[]),
        ):
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
