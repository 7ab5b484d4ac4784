"""Fixes that walk a shared graph once: one backward of a sum, or a graph kept for the second."""

from __future__ import annotations

import ast
from collections.abc import Iterator

from analyzers.explain.pattern import Proposal
from analyzers.explain.reuse.story import Story
from analyzers.explain.reuse.taking import taken_from
from analyzers.repair.blocks import joined
from analyzers.repair.reschedule.splitting import in_second_loop
from analyzers.repair.rewrite import sum_in_loop, unused_name
from analyzers.repair.sites.options import option_site
from analyzers.source.calls import call_in, steps
from analyzers.source.edits import Edit, Editor
from analyzers.source.flow import called_name, walked
from analyzers.source.project import Loop, spelled


def sum_behind_loop(story: Story) -> Iterator[Proposal]:
    """Add the losses up in the loop and walk them once behind it."""
    shared = story.shared
    if shared is None or (not shared.loops and not _comprehension(shared.reached)):
        return
    editor = Editor(shared.module)
    statement = shared.reached
    comprehension = _comprehension(statement)
    if comprehension is not None and statement is not None:
        listed = editor.text_of(comprehension.generators[0].iter)
        yield _sum(editor.replace(statement, f"sum({listed}).backward()"))
        return
    loop = shared.loops[0]
    if statement is None or story.called_for(story.reuse.reached):
        return
    call = call_in(shared.reached, shared.reached_line, "backward", "manual_backward")
    if call is None:
        return
    if steps(loop):
        yield from _every_step_behind(story, loop, statement, call)
        return
    alone = len(loop.body) == 1 and loop.body[0] is statement and not isinstance(loop, ast.While)
    loss = walked(call)
    if alone and isinstance(loop, ast.For) and loss is not None:
        many = _collection(editor, loop, spelled(loss))
        if many is not None:
            yield _sum(editor.replace(loop, f"sum({many}).backward()"))
            return
    edits = sum_in_loop(editor, loop, statement, call, unused_name(shared.module, "total_loss"))
    if edits is not None:
        yield _sum(*edits)


def _every_step_behind(
    story: Story, loop: Loop, statement: ast.stmt, call: ast.Call
) -> Iterator[Proposal]:
    """Sum in the loop; one walk behind it, then the step of each pass, in a second loop."""
    stepping = [s for s in loop.body if isinstance(s, ast.Expr) and steps(s)]
    alone = len(stepping) == 1 == len(steps(loop))
    if not story.each_of_many or not alone or not isinstance(loop, ast.For):
        return
    editor = Editor(story.frame.module)
    total = unused_name(story.frame.module, "total_loss")
    edits = sum_in_loop(editor, loop, statement, call, total)
    if edits is not None and statement in loop.body:
        moved = in_second_loop(editor, loop, stepping[0])
        title = "Add the losses up, then one backward, then the steps"
        told = "Weights that several optimizers step get the gradients of all the losses."
        yield Proposal("sum-then-step", title, joined([*edits, *moved]), told, 1)


def _collection(editor: Editor, loop: ast.For, loss: str) -> str | None:
    """The losses that a loop goes through, as one expression: `losses`, `losses.values()`."""
    scope = editor.module.scope_of(loop)
    if spelled(loop.target) == loss:
        generated = isinstance(loop.iter, ast.Call) and called_name(loop.iter) in (
            "zip",
            "enumerate",
        )
        return None if generated else editor.text_of(loop.iter)
    if isinstance(loop.iter, ast.Call) and called_name(loop.iter) == "items":
        assert isinstance(loop.iter.func, ast.Attribute)
        owner = editor.text_of(loop.iter.func.value)
        return f"{owner}.values()" if taken_from(loop, scope, loss) is not None else None
    return taken_from(loop, scope, loss)


def _comprehension(statement: ast.stmt | None) -> ast.ListComp | None:
    """`[loss.backward() for loss in losses]` as a statement."""
    if isinstance(statement, ast.Expr) and isinstance(statement.value, ast.ListComp):
        return statement.value
    return None


def _sum(*edits: Edit) -> Proposal:
    return Proposal("sum-then-backward", "Add the losses up, then one backward", edits)


def retain_on_first(story: Story) -> Iterator[Proposal]:
    """The last resort: keep the first graph."""
    site = option_site(story, story.reuse.freed, "retain_graph")
    if site is None:
        return
    yield Proposal(
        "retain-graph",
        "Last resort: keep the graph of the first backward",
        (site.told(),),
        "Last resort: the graph stays in memory until the second backward, and a step between the "
        "two would leave it with weights that have changed.",
        9,
        last_resort=True,
    )


def retain_on_both(story: Story, rank: int) -> Iterator[Proposal]:
    """Keep the graph at either call, where it is meant to be walked again: in windows of steps
    that overlap."""
    reuse = story.reuse
    sites = [option_site(story, visit, "retain_graph") for visit in (reuse.freed, reuse.reached)]
    edits = dict.fromkeys(site.told() for site in sites if site is not None)
    if len(edits) == len(sites):
        title = "Keep the graph at both backward calls: their windows overlap"
        cost = "The graphs stay in memory for as long as the window holds their states."
        yield Proposal("retain-graph", title, tuple(edits), cost, rank)
