"""One walk for two losses of which the second is made deeper in the pass: behind a condition, or
from gradients of the first one's graph."""

from __future__ import annotations

import ast
from collections.abc import Iterator, Sequence

from analyzers.explain.pattern import Proposal
from analyzers.explain.reuse.story import Story
from analyzers.repair.blocks import joined
from analyzers.repair.combine.combining import is_schedule
from analyzers.repair.rewrite import top_level_in
from analyzers.source.edits import Edit, Editor
from analyzers.source.flow import bindings, called_name, walked
from analyzers.source.project import spelled

TITLE = "One backward of the sum, once both losses are there"


def walk_once_both_are_made(story: Story, rank: int = 1) -> Iterator[Proposal]:
    """The first loss waits: the second, or what is walked of it, is added to it, and one call
    walks the sum behind both."""
    shared = story.shared
    if shared is None or not story.same_pass or shared.freed is None or shared.reached is None:
        return
    first, loss = shared.freed, _walked_alone(shared.freed)
    around = shared.module.block_of(first)
    top = top_level_in(shared.module, shared.reached, around)
    last = _walk_behind(shared.module.block_of(shared.reached), shared.reached)
    added = _walked_alone(last) if last is not None else None
    if not isinstance(loss, ast.Name) or last is None or added is None or top is None:
        return
    between = around[around.index(first) + 1 : around.index(top)]
    if top is first or any(is_schedule(s) or loss.id in bindings(s) for s in between):
        return
    editor = Editor(shared.module)
    edits = _deferred(editor, first, top, last, f"{loss.id} + {editor.text_of(added)}", loss.id)
    yield Proposal("sum-losses", TITLE, joined(edits), "", rank)


def _deferred(
    editor: Editor, first: ast.stmt, top: ast.stmt, last: ast.stmt, total: str, name: str
) -> list[Edit]:
    """The first walk goes; the last one walks the sum, or adds to what is walked behind `top`."""
    away = editor.delete(first)
    if last in editor.module.block_of(first):
        return [away, editor.replace(last, f"({total}).backward()")]
    walk = editor.insert_after(top, *editor.lines_of(first))
    return [away, editor.replace(last, f"{name} = {total}"), walk]


def _walk_behind(block: Sequence[ast.stmt], statement: ast.stmt) -> ast.stmt | None:
    """The first statement of a block, from this one on, that walks a loss."""
    later = block[block.index(statement) :] if statement in block else []
    return next((s for s in later if _walked_alone(s) is not None), None)


def _walked_alone(statement: ast.stmt) -> ast.expr | None:
    """What a plain `loss.backward()` walks."""
    call = statement.value if isinstance(statement, ast.Expr) else None
    if not isinstance(call, ast.Call) or called_name(call) != "backward" or call.args:
        return None
    kept = {keyword.arg for keyword in call.keywords} - {"retain_graph"}
    root = walked(call)
    return root if root is not None and not kept and spelled(root) else None
