"""Fixes for windows of states that are walked by hand: begin them anew after the backward."""

from __future__ import annotations

import ast
from collections.abc import Iterator

from analyzers.evidence import Holder
from analyzers.explain.pattern import SECOND_CHOICE, Proposal
from analyzers.explain.reuse.story import Story
from analyzers.explain.spots import spot
from analyzers.repair.cut.cutting import cut
from analyzers.repair.cut.expected import visible
from analyzers.repair.sites.scopes import walked_behind
from analyzers.source.calls import calls_named
from analyzers.source.edits import Editor
from analyzers.source.flow import names_read, reads, statements_of, value_of
from analyzers.source.project import Module, spelled
from analyzers.source.trees import position


def cut_window(story: Story) -> Iterator[Proposal]:
    """Behind the walk, begin the window anew: as the script began it, or empty, or with the last
    state cut from its past."""
    shared, holder = story.shared, story.holder
    if shared is None or holder is None or not holder.container.startswith(("list", "deque")):
        return
    if story.name not in visible(story):
        return
    editor = Editor(shared.module)
    walk = _last_of_pass(story)
    last = f"[{story.name}[-1].detach()]"
    if holder.container.startswith("deque"):
        last = f"deque({last}, maxlen={story.name}.maxlen)"
    lines = [f"{story.name}.clear()"]
    if "." not in holder.path.removeprefix(story.name):  # entries that are records have no detach
        lines.append(f"{story.name} = {last}")
    if (again := _begun_again(story)) is not None:
        lines.insert(0, f"{story.name} = {again}")
    for rank, line in enumerate(lines):
        title = f"Begin `{story.name}` anew after the backward"
        yield cut("restart-window", title, (editor.insert_after(walk, line),), rank)


def _last_of_pass(story: Story) -> ast.stmt:
    """The last statement of the block in which the walk of this pass stands, where that block
    holds further walks; else the walk (with its step)."""
    shared = story.frame
    assert shared.freed is not None
    statement = walked_behind(shared.module, shared.freed)
    for parent in shared.module.ancestors(shared.freed):
        if parent is story.loop:
            break
        if isinstance(parent, ast.If) and parent.body:
            return parent.body[-1]
    return statement


def _begun_again(story: Story) -> str | None:
    """The literal that began the list, with what the loop appends last in the places of the
    initial state: `[(None, h0)]` and `append((h, new))` give `[(None, new)]`."""
    first = appended = None
    for _, _, statement in story.binders:
        value = value_of(statement)
        if isinstance(value, ast.List) and len(value.elts) == 1 and first is None:
            first = value.elts[0]
        if isinstance(statement, ast.Expr) and isinstance(statement.value, ast.Call):
            appended = statement.value.args[-1] if statement.value.args else None
    if first is None or appended is None:
        return None
    if isinstance(first, ast.Tuple) and isinstance(appended, ast.Tuple):
        if len(first.elts) != len(appended.elts):
            return None
        parts = [
            spelled(old if isinstance(old, ast.Constant) else new)
            for old, new in zip(first.elts, appended.elts, strict=True)
        ]
        return f"[({', '.join(parts)})]"
    return f"[{spelled(appended)}.detach()]"


def emptied(story: Story, rank: int) -> Iterator[Proposal]:
    """Empty a list behind the walk that used up its graphs, beside and in the manner of others
    that are emptied there."""
    place = story.reuse.freed.at
    where = spot(story.project, place)
    holder = story.holder
    if where is None or holder is None or not holder.container.startswith("list"):
        return
    module, walk, scope = where.module, where.statement, where.scope
    if not (story.name.startswith("self.") or reads(scope, story.name.partition(".")[0])):
        return
    manners = [
        (statement, manner)
        for statement in statements_of(scope)
        if position(statement) > position(walk) and (manner := _emptying(statement)) is not None
    ]
    after, manner = manners[-1] if manners else (walked_behind(module, walk), "{}.clear()")
    rank += 0 if manners else 3  # what nobody empties may be meant to be kept
    edit = Editor(module).insert_after(after, manner.format(story.name))
    yield cut("empty-list", f"Empty `{story.name}` behind the backward", (edit,), rank)


def gathered_emptied(story: Story) -> Iterator[Proposal]:
    """Lists that an inner loop fills for one walk, in another function, emptied behind it: with all
    that are gathered beside them for the loss. It comes before any cut: values of passes before
    would count again."""
    where, shared = spot(story.project, story.reuse.freed.at), story.shared
    if where is None or shared is None or shared.freed is None or where.scope is shared.scope:
        return
    read = names_read(where.scope)
    held = {h.path.partition("[")[0] for h in _lists(story)} & read
    owners = {name.rpartition(".")[0] for name in held}
    if len(owners) != 1 or not all(_fills_in_steps(story, name) for name in held):
        return
    beside = {n for n in read if n.rpartition(".")[0] in owners and _fills_in_steps(story, n)}
    names = sorted(held | (beside if owners != {""} else set()))
    told = " and ".join(f"`{name}`" for name in names)
    lines = [f"{name}.clear()" for name in names]
    edit = Editor(where.module).insert_after(walked_behind(where.module, where.statement), *lines)
    title = f"Empty {told} behind the backward"
    why = "Each backward uses what was gathered since the last."
    yield Proposal("empty-gathered", title, (edit,), why, -SECOND_CHOICE)


def _lists(story: Story) -> list[Holder]:
    holders = [holder for join in story.reuse.joins for holder in join.holders]
    return [holder for holder in holders if holder.container.startswith("list")]


def _fills_in_steps(story: Story, name: str) -> bool:
    """Whether only loops within the pass add to a list, and nothing empties it there: itself, or by
    the calls of a function that does."""
    shared, last = story.frame, name.rpartition(".")[2]
    adding: list[tuple[Module, ast.AST]] = []
    for module, node in story.project.each(ast.Call):
        if not isinstance(node.func, ast.Attribute):
            continue
        if spelled(node.func.value).rpartition(".")[2] == last:
            if node.func.attr in ("clear", "pop", "popleft"):
                return False
            if node.func.attr == "append":
                adding.append((module, node))
    calls = []
    for module, added in adding:
        scope = module.scope_of(added)
        function = getattr(scope, "name", "")
        if scope is shared.scope:
            calls.append(added)
        elif function:
            calls += [c for c in calls_named(shared.scope, function) if c not in calls]
        else:
            return False
    return bool(calls) and all(_within_pass(story, call) for call in calls)


def _within_pass(story: Story, call: ast.AST) -> bool:
    """Whether a call stands in a loop of its own inside the one that the walk stands in."""
    shared = story.frame
    assert shared.freed is not None
    inner = shared.module.loops_around(call)[:1]
    return all(
        loop is not story.loop and not shared.module.holds(loop, shared.freed) for loop in inner
    ) and bool(inner)


def _emptying(statement: ast.stmt) -> str | None:
    """How a statement empties a list, with a place for another list's name."""
    match statement:
        case ast.Assign(targets=[ast.Name() | ast.Attribute()], value=ast.List(elts=[])):
            return "{} = []"
        case ast.Expr(value=ast.Call(func=ast.Attribute(attr="clear"), args=[])):
            return "{}.clear()"
        case ast.Delete(targets=[ast.Subscript(slice=ast.Slice(lower=None, upper=None))]):
            return "del {}[:]"
    return None
