"""Two losses of one pass in one walk: of their sum, where the second is walked.

Gradients add up, so nothing changes but how often the shared part is walked. A helper that walks
its loss returns it instead; steps between the two walks go behind the one that stays.
"""

from __future__ import annotations

import ast
from collections.abc import Iterator, Sequence
from dataclasses import dataclass

from analyzers.evidence import Visit
from analyzers.explain.pattern import Proposal
from analyzers.explain.reuse.story import Story
from analyzers.repair.blocks import joined
from analyzers.repair.combine.helpers import returned_loss
from analyzers.repair.rewrite import copy_into, top_level_in, unused_name
from analyzers.repair.sites.statements import loss_of, walk_alone
from analyzers.source.calls import calls_named, steps
from analyzers.source.edits import Edit, Editor
from analyzers.source.flow import bindings, names_read
from analyzers.source.project import Module


@dataclass(frozen=True)
class Walked:
    """One of the two walks, as the function that has both sees it: how it spells the loss once
    `edits` are made, the walk where it is that function's own, and what is to follow the last
    walk."""

    loss: str
    edits: tuple[Edit, ...] = ()
    walk: ast.Call | None = None
    behind: tuple[str, ...] = ()


def one_backward(story: Story) -> Iterator[Proposal]:
    """The first loss waits for the second, and one call walks their sum."""
    shared = story.shared
    if shared is None or not story.same_pass or shared.freed is None or shared.reached is None:
        return
    first, module = shared.freed, shared.module
    block, last = module.block_of(first), shared.reached
    visits = story.reuse.freed, story.reuse.reached
    ahead, then = _walked(story, visits[0], first), _walked(story, visits[1], last)
    if then is None and (behind := _walk_behind(module, last)):
        last, then = behind, _walked(story, visits[1], behind)
    top = top_level_in(module, last, block)
    if top is None or top is first or ahead is None or then is None:
        return
    between = block[block.index(first) + 1 : block.index(top)]
    moved = [s for s in between if _is_schedule(s)]
    editor = Editor(module)
    if top is last:
        edits = _summed(editor, (ahead, then), (first, last), between)
        edits += _rescheduled(editor, moved, first, last)
    else:
        edits = _deferred(editor, (ahead, then), (first, last), top, between)
    title = "One backward of the sum" + (", then the steps" if moved else "")
    told = "All backwards run before the first step." if moved else ""
    if edits:
        yield Proposal("sum-losses", title, joined(edits), told)


def _walk_behind(module: Module, reached: ast.stmt) -> ast.stmt | None:
    """Behind a gradient that was only asked for, the next statement of its block that walks what is
    made of it."""
    block = module.block_of(reached)
    return next((s for s in block[block.index(reached) + 1 :] if walk_alone(s)), None)


def _walked(story: Story, visit: Visit, statement: ast.stmt) -> Walked | None:
    """One walk; None where it does more than that. Both may hand their losses to one function."""
    function = story.called_for(visit)
    both = function == story.called_for(story.reuse.freed) == story.called_for(story.reuse.reached)
    call = walk_alone(statement, function if both else "")
    if call is not None:
        return Walked(Editor(story.frame.module).text_of(loss_of(call)), walk=call)
    found = returned_loss(story, function, statement) if function else None
    return Walked(found.name, found.edits, None, found.behind) if found is not None else None


def _summed(
    editor: Editor,
    losses: tuple[Walked, Walked],
    at: tuple[ast.stmt, ast.stmt],
    between: Sequence[ast.stmt],
) -> list[Edit]:
    """The first walk goes; the second is that of the sum."""
    (ahead, then), (first, last) = losses, at
    edits, name = [*ahead.edits, *then.edits], ahead.loss
    if ahead.walk is not None:
        left = loss_of(ahead.walk)
        rebound = {n for s in between for n in bindings(s)} & names_read(left)
        if rebound or not isinstance(left, ast.Name | ast.Attribute | ast.BinOp):
            name = unused_name(editor.module, "first_loss")
            edits.append(editor.replace(first, f"{name} = {ahead.loss}"))
        else:
            edits.append(editor.delete(first))
    total = f"{name} + {then.loss}"
    behind = [*ahead.behind, *then.behind]
    if then.walk is None:
        behind.insert(0, f"({total}).backward()")
    elif then.walk.args:
        edits.append(editor.replace(then.walk.args[0], total))
    else:
        start, dot = editor.span(then.walk)[0], editor.span(loss_of(then.walk))[1]
        dot = editor.module.text.index(".backward", dot)
        edits.append(Edit(editor.module.path, start, dot, f"({total})"))
    return [*edits, editor.insert_after(last, *behind)] if behind else edits


def _deferred(
    editor: Editor,
    losses: tuple[Walked, Walked],
    at: tuple[ast.stmt, ast.stmt],
    top: ast.stmt,
    between: Sequence[ast.stmt],
) -> list[Edit]:
    """A second loss that is made deeper in the pass, behind a condition, say, is added to the
    first, which is walked behind both; none where that is no plain name, or changes before."""
    (ahead, then), (first, last) = losses, at
    name = ahead.loss
    plain = name.isidentifier() and ahead.walk is not None and then.walk is not None
    if not plain or any(_is_schedule(s) or name in bindings(s) for s in between):
        return []
    walk = editor.insert_after(top, *editor.lines_of(first))
    return [editor.delete(first), editor.replace(last, f"{name} = {name} + {then.loss}"), walk]


def _is_schedule(statement: ast.stmt) -> bool:
    """Whether the statement steps an optimizer or clears gradients."""
    return isinstance(statement, ast.Expr) and bool(
        steps(statement) or calls_named(statement, "zero_grad")
    )


def _rescheduled(
    editor: Editor, moved: Sequence[ast.stmt], first: ast.stmt, last: ast.stmt
) -> list[Edit]:
    """Steps go behind the walk that stays; what clears gradients goes in front of the first."""
    behind = [s for s in moved if steps(s)]
    ahead = [s for s in moved if s not in behind]
    edits = editor.delete_all(moved)
    if behind:
        edits.append(editor.insert_after(last, *editor.lines_of(*behind)))
    if ahead:
        edits += copy_into(editor, ahead, first)
    return edits
