"""Fixes that cut a carried structure from its history at the boundary of a pass."""

from __future__ import annotations

import ast
from collections.abc import Iterator
from dataclasses import replace

from analyzers.evidence import Holder
from analyzers.explain.pattern import SECOND_CHOICE, Proposal
from analyzers.explain.reuse.passing import frames, known_below
from analyzers.explain.reuse.shared_frame import Shared
from analyzers.explain.reuse.story import Story
from analyzers.explain.spots import spot
from analyzers.repair.blocks import indentation
from analyzers.repair.cut.carrying import cut_lines
from analyzers.repair.cut.cutting import cut
from analyzers.repair.cut.detaching import LEAF, Idiom, detached, idiom_for, starts_as_none
from analyzers.repair.cut.members import cut_fields, cut_layers
from analyzers.repair.rewrite import head_of
from analyzers.repair.sites.scopes import (
    head_of_rerun,
    unbound_at,
    walked_behind,
    wants_gradient,
)
from analyzers.source.calls import asks_for_gradient, calls_named
from analyzers.source.edits import Editor
from analyzers.source.flow import (
    bound_within,
    declared_outer,
    reads,
    statements_of,
    value_of,
)
from analyzers.source.project import Scope
from analyzers.source.signatures import positional


def detach_at_boundary(story: Story, rank: int = 0) -> Iterator[Proposal]:
    """Detach the carriers behind the walk, and at the head of the loop (or before the call)."""
    shared = story.shared
    if shared is None or shared.freed is None or shared.reached is None:
        return
    names = _rebound(story, visible(story))
    if not names:
        yield from _detach_where_walked(story, rank)
        yield from _detach_behind_yield(story, rank)
        return
    editor = Editor(shared.module)
    asked = any(wants_gradient(shared.scope, name) for name in names)
    leaf = asked or _begins_as_leaf(story)
    idiom = LEAF if leaf and story.reuse.engine == "torch" else idiom_for(story)
    plain = _assignment(story, names, idiom)
    what = " and ".join(f"`{name}`" for name in names)
    if story.loop is None and (first := head_of_rerun(shared, story.project)) is not None:
        edit = editor.insert_before(first, *plain)
        yield cut("detach-at-head", f"Detach {what} at the head of the cell", (edit,), rank)
        return
    if story.loop is None and story.same_line:
        yield from _detach_in_callee(story, rank)
    if story.loop is None:
        edit = editor.insert_before(shared.reached, *plain)
        yield cut("detach-before-call", f"Detach {what} before the next call", (edit,), rank)
        return
    straight = shared.module.block_of(shared.freed) is story.loop.body
    walk = walked_behind(shared.module, shared.freed)
    head = editor.insert_before(head_of(story.loop), *_guarded(story, names, plain))
    behind = editor.insert_after(walk, *plain)
    if not any(unbound_at(story.loop, shared.scope, name) for name in names):
        yield cut(
            "detach-at-head",
            f"Detach {what} at the head of the loop",
            (head,),
            rank if straight else rank + 1,
        )
    yield cut(
        "detach-behind-backward",
        f"Detach {what} behind the backward",
        (behind,),
        (rank + 1 if straight else rank) + (SECOND_CHOICE if _bound_behind(story, walk) else 0),
    )
    yield from _detach_entries(story, names[0], walk, rank + SECOND_CHOICE)


def _detach_in_callee(story: Story, rank: int) -> Iterator[Proposal]:
    """Detach behind the walk in the function that a comprehension calls for each element."""
    shared = story.shared
    stack = frames(story.project, story.reuse.freed)
    at = [i for i, f in enumerate(stack) if shared is not None and f.place.frame == shared.frame]
    below = list(known_below(stack[at[-1] :], story.name)) if at else []
    held = story.holder
    if not below or held is None or below[-1][0] is not stack[-1]:
        return
    frame, name = below[-1]
    inner = replace(held, path=name + held.path.removeprefix(story.name))
    line = f"{name} = {detached(name, inner, idiom_for(story))}"
    edit = Editor(frame.module).insert_after(walked_behind(frame.module, frame.statement), line)
    title = f"Detach `{name}` behind the backward"
    yield cut("detach-behind-backward", title, (edit,), rank)


def _detach_entries(story: Story, name: str, walk: ast.stmt, rank: int) -> Iterator[Proposal]:
    """Detach those entries of a dictionary that carried a graph: others may be no tensors."""
    shared, held = story.shared, story.held[name]
    if shared is None or story.loop is None or held.container not in ("dict", "OrderedDict"):
        return
    keys = dict.fromkeys(
        holder.path.removeprefix(name)
        for join in story.reuse.joins
        for holder in join.holders
        if holder.path.startswith(f"{name}[") and holder.path.count("[") == 1
    )
    editor = Editor(shared.module)
    quoted = [key.replace("'", '"') if '["' in shared.module.text else key for key in keys]
    lines = [f"{name}{key} = {name}{key}.detach()" for key in quoted]
    head = editor.insert_before(head_of(story.loop), *_guarded(story, [name], lines))
    title = f"Detach the tensors in `{name}`"
    yield cut("detach-at-head", f"{title} at the head of the loop", (head,), rank)
    behind = editor.insert_after(walk, *lines)
    yield cut("detach-behind-backward", f"{title} behind the backward", (behind,), rank + 1)


def _bound_behind(story: Story, walk: ast.stmt) -> bool:
    """Whether a function that gives the carrier a new value is called behind the walk, in the
    same pass: a cut in front of that call comes too early."""
    block = story.frame.module.block_of(walk)
    makers = {getattr(scope, "name", "") for _, scope, _ in story.binders}
    return any(calls_named(statement, *makers) for statement in block[block.index(walk) + 1 :])


def _begins_as_leaf(story: Story) -> bool:
    """Whether the carrier began as a leaf that requires grad, and so must go on as one."""
    return any(
        isinstance(node, ast.Call) and asks_for_gradient(node)
        for _, _, statement in story.binders
        if story.loop is None or statement not in set(ast.walk(story.loop))
        for node in ast.walk(value_of(statement) or ast.Pass())
    )


def _detach_where_walked(story: Story, rank: int) -> Iterator[Proposal]:
    """Detach behind the walk in the function that walks, where only that function knows the name
    (a closure's `nonlocal`, a global, an attribute of its own object)."""
    place = story.reuse.freed.at
    where = spot(story.project, place)
    if where is None or place.line != story.reuse.reached.at.line:
        return
    module, walk, scope = where.module, where.statement, where.scope
    outer = declared_outer(scope)
    names = [name for name in story.held if name in outer or name.startswith("self.")]
    idiom = idiom_for(story)
    lines = _assignment(story, names, idiom) if names else []
    if not names:
        names = _entries(story, scope, '"' if '["' in module.text else "'")
        lines = [f"{name} = {idiom.of(name)}" for name in names]
    if not lines:
        return
    what = " and ".join(f"`{name}`" for name in names)
    edit = Editor(module).insert_after(walked_behind(module, walk), *lines)
    yield cut("detach-behind-backward", f"Detach {what} behind the backward", (edit,), rank)


def _entries(story: Story, scope: Scope, quote: str) -> list[str]:
    """Entries of dictionaries that the function reads from around it: `stats["ema"]`."""
    found = [
        holder.path.replace("'", quote)
        for name, holder in story.held.items()
        if holder.container == "dict" and reads(scope, name)
        if holder.path.startswith(f"{name}[") and holder.path.count("[") == 1
    ]
    return list(dict.fromkeys(found))


def _detach_behind_yield(story: Story, rank: int) -> Iterator[Proposal]:
    """Detach where a generator goes on: what it keeps between two passes is its own."""
    idiom, held = idiom_for(story), story.held.get(story.name)
    for module, scope, statement in story.binders:
        if not module.loops_around(statement):
            continue
        variants = [lines[-1].strip() for lines in cut_lines(scope, story.name)]
        if held is not None:
            variants = [f"{story.name} = {detached(story.name, held, idiom)}"]
        for node in statements_of(scope):
            gives = isinstance(node, ast.Expr) and isinstance(node.value, ast.Yield)
            if gives and module.loops_around(node):
                for line in variants:
                    edit = Editor(module).insert_after(node, line)
                    title = f"Detach `{story.name}` where `{getattr(scope, 'name', '')}` goes on"
                    yield cut("detach-behind-yield", title, (edit,), rank)
        return


def visible(story: Story) -> list[str]:
    """The carriers that the shared frame can name, best first."""
    shared = story.frame
    names = []
    for name, holder in story.held.items():
        if name in story.handed:
            continue
        here = holder.frame == shared.frame or holder.scope == shared.function
        mine = name.startswith("self.") and _is_method(shared.scope)
        mine = mine or _same_object(name, shared)
        if here or mine or (holder.scope == "<module>" and shared.scope is shared.module.tree):
            names.append(name)
    return names


def _rebound(story: Story, names: list[str]) -> list[str]:
    """The names that passes of the loop give a new value; all of them where none is."""
    if story.loop is None:
        return names
    bound = bound_within(story.loop)
    return [name for name in names if name in bound or "." in name] or names


def _same_object(path: str, shared: Shared) -> bool:
    """Whether the shared frame has the object that a path starts from, by the same name."""
    owner, dot, _ = path.partition(".")
    return bool(dot) and owner != "self" and reads(shared.scope, owner)


def _is_method(scope: Scope) -> bool:
    return isinstance(scope, ast.FunctionDef) and positional(scope)[:1] == ["self"]


def _assignment(story: Story, names: list[str], idiom: Idiom) -> list[str]:
    members = [cut_fields(story, n, idiom) or cut_layers(story, n, idiom) for n in names]
    if any(members):
        plain = [n for n, lines in zip(names, members, strict=True) if not lines]
        kept = _assignment(story, plain, idiom) if plain else []
        return [*kept, *dict.fromkeys(line for lines in members for line in lines)]
    values = [detached(name, story.held[name], idiom) for name in names]
    if len(names) > 1 and all("for " not in value for value in values):
        return [f"{', '.join(names)} = {', '.join(values)}"]
    pairs = zip(names, values, strict=True)
    return [
        f"{name}.update({value})" if _is_special_dict(story.held[name]) else f"{name} = {value}"
        for name, value in pairs
    ]


def _is_special_dict(holder: Holder) -> bool:
    """Whether the name holds a dictionary of a kind that a plain one would not replace."""
    kind = holder.container.partition("[")[0]
    return kind in ("OrderedDict", "defaultdict") and "[" in holder.path


def _guarded(story: Story, names: list[str], lines: list[str]) -> list[str]:
    """The lines under `if x is not None:` where the first pass may find None."""
    shared = story.frame
    scope: ast.AST = shared.scope
    own = names[0]
    if "." in own:
        scope, own = shared.module.tree, f"self.{own.rpartition('.')[2]}"
    if starts_as_none(scope, own) or starts_as_none(scope, names[0]):
        step = indentation(shared.module)
        return [f"if {names[0]} is not None:", *(f"{step}{line}" for line in lines)]
    return lines
