"""Fixes that walk a shared graph once: one backward of a sum, or a graph kept for the second."""

from __future__ import annotations

import ast
from collections.abc import Iterator, Sequence

from analyzers.evidence import Visit
from analyzers.explain.pattern import Proposal
from analyzers.explain.reuse.shared_frame import Shared
from analyzers.explain.reuse.story import Story
from analyzers.explain.reuse.taking import taken_from
from analyzers.repair.blocks import joined
from analyzers.repair.reschedule.splitting import in_second_loop
from analyzers.repair.rewrite import copy_into, sum_in_loop, top_level_in, unused_name
from analyzers.repair.sites.options import option_site
from analyzers.source.calls import call_in, calls_named, steps
from analyzers.source.edits import Edit, Editor
from analyzers.source.flow import bindings, called_name, names_read, walked
from analyzers.source.project import Loop, spelled


def one_backward(story: Story) -> Iterator[Proposal]:
    """Both losses are walked by one call, at the place of the second."""
    shared = story.shared
    if shared is None or not story.same_pass:
        return
    first, second = shared.freed, shared.reached
    direct = _direct(story.reuse.freed, shared) and _direct(story.reuse.reached, shared)
    pair = (_plain_walks if direct else _handed_on)(first, second)
    if first is None or second is None or pair is None:
        return
    block = shared.module.block_of(second)
    first_here = top_level_in(shared.module, first, block)
    if first_here is not first:
        return
    between = block[block.index(first) + 1 : block.index(second)]
    moved = [s for s in between if is_schedule(s)]
    edits = _summed(Editor(shared.module), pair, first, between)
    edits += rescheduled(Editor(shared.module), moved, first, second)
    title = "One backward of the sum" + (", then the steps" if moved else "")
    told = "All backwards run before the first step." if moved else ""
    yield Proposal("sum-losses", title, tuple(edits), told)


def _direct(visit: Visit, shared: Shared) -> bool:
    return visit.at.file == shared.module.path and visit.at.line in (
        shared.freed_line,
        shared.reached_line,
    )


def _plain_walks(
    first: ast.stmt | None, second: ast.stmt | None
) -> tuple[ast.Call, ast.Call] | None:
    """The two calls, where each is a statement of its own without a gradient argument."""
    calls: list[ast.Call] = []
    for statement in (first, second):
        if not isinstance(statement, ast.Expr) or not isinstance(statement.value, ast.Call):
            return None
        call = statement.value
        if called_name(call) not in ("backward", "manual_backward") or walked(call) is None:
            return None
        if isinstance(call.func, ast.Attribute) and called_name(call) == "backward" and call.args:
            return None
        calls.append(call)
    return calls[0], calls[1]


def _handed_on(first: ast.stmt | None, second: ast.stmt | None) -> tuple[ast.Call, ast.Call] | None:
    """The two calls, where each hands its loss, and nothing else, to one function that walks it
    (`self.manual_backward(loss)`)."""
    calls = [
        statement.value
        for statement in (first, second)
        if isinstance(statement, ast.Expr) and isinstance(statement.value, ast.Call)
    ]
    plain = all(len(call.args) == 1 and not call.keywords for call in calls)
    if len(calls) != 2 or not plain or spelled(calls[0].func) != spelled(calls[1].func):
        return None
    return calls[0], calls[1]


def is_schedule(statement: ast.stmt) -> bool:
    """Whether the statement steps an optimizer or clears gradients."""
    return isinstance(statement, ast.Expr) and bool(
        steps(statement) or calls_named(statement, "zero_grad")
    )


def _summed(
    editor: Editor,
    pair: tuple[ast.Call, ast.Call],
    first: ast.stmt,
    between: Sequence[ast.stmt],
) -> list[Edit]:
    """The first call goes; the second walks the sum."""
    left, right = (_loss_of(call) for call in pair)
    assert left is not None
    assert right is not None
    name = editor.text_of(left)
    rebound = {n for s in between for n in bindings(s)} & names_read(left)
    if rebound or not isinstance(left, ast.Name | ast.Attribute | ast.BinOp):
        name = unused_name(editor.module, "first_loss")
        edits = [editor.replace(first, f"{name} = {editor.text_of(left)}")]
    else:
        edits = [editor.delete(first)]
    total = f"({name} + {editor.text_of(right)})"
    if isinstance(pair[1].func, ast.Attribute) and pair[1].func.value is right:
        start = editor.span(pair[1])[0]
        dot = editor.module.text.index(".backward", editor.span(right)[1])
        edits.append(Edit(editor.module.path, start, dot, total))
    else:
        edits.append(editor.replace(right, total[1:-1]))
    return edits


def _loss_of(call: ast.Call) -> ast.expr | None:
    return call.args[0] if len(call.args) == 1 and not call.keywords else walked(call)


def rescheduled(
    editor: Editor, moved: Sequence[ast.stmt], first: ast.stmt, second: ast.stmt
) -> list[Edit]:
    """Steps go behind the second walk; what clears gradients goes in front of the first."""
    behind = [s for s in moved if steps(s)]
    ahead = [s for s in moved if s not in behind]
    edits = editor.delete_all(moved)
    if behind:
        edits.append(editor.insert_after(second, *editor.lines_of(*behind)))
    if ahead:
        edits += copy_into(editor, ahead, first)
    return edits


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
    if statement is None or not _direct(story.reuse.reached, shared):
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
