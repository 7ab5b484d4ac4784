"""A loop that walks one loss a pass and steps at once, split: all walks, then all steps."""

from __future__ import annotations

import ast
from collections.abc import Iterator

from analyzers.blocks import indentation, joined
from analyzers.edits import Edit, Editor
from analyzers.flow import call_on_line, names_read
from analyzers.pattern import Proposal
from analyzers.rewrite import steps, with_keyword
from analyzers.source import spelled, target_names
from analyzers.stepping import Schedule


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
    if schedule.step not in loop.body or not isinstance(schedule.step, ast.Expr):
        return
    if not isinstance(optimizer, ast.Attribute) or not _depends(loop, optimizer):
        return
    moved = _in_second_loop(editor, loop, schedule.step)
    walk = call_on_line(module, schedule.where.place.line, "backward")
    title = "All walks first, then the steps"
    if walk is not None:
        own = f'{editor.text_of(optimizer.value)}.param_groups[0]["params"]'
        kept = with_keyword(editor, walk, "inputs", own)
        told = f"{title}; each walk for its own optimizer's parameters"
        yield Proposal("steps-behind-walks", told, joined([*moved, kept]), "same", "", rank)
        rank += 1
    yield Proposal("steps-behind-walks", title, joined(moved), "same", "", rank)


def _depends(loop: ast.For, optimizer: ast.Attribute) -> bool:
    """Whether each pass steps another optimizer."""
    return bool(set(target_names(loop.target)) & names_read(optimizer))


def _in_second_loop(editor: Editor, loop: ast.For, step: ast.Expr) -> list[Edit]:
    target, iterated = _narrowed(loop, names_read(step))
    lines = editor.lines_of(step)
    inner = indentation(editor.module)
    header = f"for {target} in {iterated}:"
    return [
        editor.delete(step),
        editor.insert_after(loop, header, *(inner + line for line in lines)),
    ]


def _narrowed(loop: ast.For, needed: set[str]) -> tuple[str, str]:
    """The loop's target and iterable, of a `zip` only the part that is needed."""
    match loop.target, loop.iter:
        case ast.Tuple(elts=targets), ast.Call(func=ast.Name(id="zip"), args=parts):
            wanted = [
                (spelled(target), spelled(part))
                for target, part in zip(targets, parts, strict=False)
                if set(target_names(target)) & needed
            ]
            if len(wanted) == 1 and len(targets) == len(parts):
                return wanted[0]
    return spelled(loop.target), spelled(loop.iter)
