"""Walks and steps by turns, split: all walks, then all steps."""

from __future__ import annotations

import ast
from collections.abc import Iterator

from analyzers.explain.inplace import Stale
from analyzers.explain.pattern import Proposal
from analyzers.repair.blocks import indentation, joined
from analyzers.repair.reschedule.schedule import Schedule, root_names
from analyzers.repair.reschedule.stepping import chains
from analyzers.repair.rewrite import with_keyword
from analyzers.source.calls import steps
from analyzers.source.edits import Edit, Editor
from analyzers.source.flow import call_in, names_read
from analyzers.source.project import spelled, target_names


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
    walk = schedule.where.call("backward")
    title = "All backward calls first, then the steps"
    if walk is not None:
        own = f'{editor.text_of(optimizer.value)}.param_groups[0]["params"]'
        kept = with_keyword(editor, walk, "inputs", own)
        told = f"{title}; each backward for its own optimizer's parameters"
        yield Proposal("steps-behind-walks", told, joined([*moved, kept]), "", rank)
        rank += 1
    yield Proposal("steps-behind-walks", title, joined(moved), "", rank)


def all_steps_last(stale: Stale, schedule: Schedule, rank: int = 2) -> Iterator[Proposal]:
    """Every step between the failing loss's forward and its walk goes behind that walk; the walk
    leaves gradients in its own optimizer's parameters only, or wherever it leads."""
    block, visit = schedule.block, stale.evidence.reached
    at = block.index(schedule.walk)
    made = list(chains(block[:at], root_names(visit, schedule.where))) if visit is not None else []
    first = block.index(made[-1][0]) if made else at
    moved = [s for s in block[first:at] if isinstance(s, ast.Expr) and steps(s)]
    if len(moved) < 2:
        return
    editor = schedule.where.editor
    lines = [line for s in moved for line in editor.lines_of(s)]
    edits = [*(editor.delete(s) for s in moved), editor.insert_after(schedule.walk, *lines)]
    title = "All backward calls first, then the steps"
    yield Proposal("steps-last", title, joined(edits), "", rank)
    own = next((call.func for s in block[at:] for call in steps(s)), None)
    line, column = schedule.walk.lineno, schedule.walk.col_offset
    walk = call_in(schedule.where.module.statement_at(line, column), line, "backward")
    if walk is not None and isinstance(own, ast.Attribute):
        given = f'{editor.text_of(own.value)}.param_groups[0]["params"]'
        kept = with_keyword(editor, walk, "inputs", given)
        told = f"{title}; the last backward for its own optimizer's parameters"
        yield Proposal("steps-last", told, joined([*edits, kept]), "", rank + 1)


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
