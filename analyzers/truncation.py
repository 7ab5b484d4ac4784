"""Fixes that cut a carried structure from its history: at the boundary, or where it is stored."""

from __future__ import annotations

import ast
from collections.abc import Iterator

from analyzers.detaching import LEAF, Idiom, detached, idiom_for, starts_as_none
from analyzers.edits import Edit, Editor
from analyzers.flow import backward_calls, called_name, mentions, value_of
from analyzers.lifetimes import Shared
from analyzers.members import cut_fields, cut_layers
from analyzers.pattern import Proposal
from analyzers.rewrite import head_of
from analyzers.source import Module, Project, Scope, spelled
from analyzers.stories import Story

_TRADEOFF = "Gradients stop at the boundary: nothing is learnt from what lies before it."


def detach_at_boundary(story: Story, project: Project, rank: int = 0) -> Iterator[Proposal]:
    """Detach the carriers behind the walk, and at the head of the loop (or before the call)."""
    shared = story.shared
    if shared is None or shared.freed is None or shared.reached is None:
        return
    names = _visible(story)
    if not names:
        return
    editor = Editor(shared.module)
    idiom = LEAF if _begins_as_leaf(story) else idiom_for(story.reuse, project)
    plain = _assignment(story, names, idiom)
    what = " and ".join(f"`{name}`" for name in names)
    if story.loop is None and (first := _head_of_rerun(shared, project)) is not None:
        edit = editor.insert_before(first, *plain)
        yield _cut("detach-at-head", f"Detach {what} at the head of the cell", (edit,), rank)
        return
    if story.loop is None:
        edit = editor.insert_before(shared.reached, *plain)
        yield _cut("detach-before-call", f"Detach {what} before the next call", (edit,), rank)
        return
    straight = shared.module.block_of(shared.freed) is story.loop.body
    head = editor.insert_before(head_of(story.loop), *_guarded(story, names, plain))
    behind = editor.insert_after(_walk_statement(story), *plain)
    yield _cut(
        "detach-at-head",
        f"Detach {what} at the head of the loop",
        (head,),
        rank if straight else rank + 1,
    )
    yield _cut(
        "detach-behind-backward",
        f"Detach {what} behind the backward",
        (behind,),
        rank + 1 if straight else rank,
    )


def _head_of_rerun(shared: Shared, project: Project) -> ast.stmt | None:
    """The first statement of the notebook's cell, if it was a second run of it that failed."""
    cell = shared.module.cell_at(shared.reached_line)
    if cell is None or cell.label not in project.rerun or shared.freed_line not in cell:
        return None
    return next((s for s in shared.module.tree.body if s.lineno in cell), None)


def _begins_as_leaf(story: Story) -> bool:
    """Whether the carrier began as a leaf that requires grad, and so must go on as one."""
    return any(
        isinstance(node, ast.Call)
        and (
            called_name(node) == "requires_grad_"
            or any(k.arg == "requires_grad" for k in node.keywords)
        )
        for _, _, statement in story.binders
        if story.loop is None or statement not in set(ast.walk(story.loop))
        for node in ast.walk(value_of(statement) or ast.Pass())
    )


def _walk_statement(story: Story) -> ast.stmt:
    """The statement behind which the walked graph is no longer needed: the last one of the same
    block that walks or steps."""
    assert story.shared is not None
    assert story.shared.freed is not None
    block = story.shared.module.block_of(story.shared.freed)
    last = story.shared.freed
    for statement in block[block.index(last) :] if last in block else []:
        steps = any(isinstance(n, ast.Attribute) and n.attr == "step" for n in ast.walk(statement))
        if (steps and isinstance(statement, ast.Expr)) or backward_calls(statement):
            last = statement
    return last


def _visible(story: Story) -> list[str]:
    """The carriers that the shared frame can name, best first."""
    shared = story.shared
    assert shared is not None
    names = []
    for name, holder in story.held.items():
        if name in story.handed:
            continue
        here = holder.frame == shared.frame or holder.scope == shared.function
        mine = name.startswith("self.") and _is_method(shared.scope)
        if here or mine or (holder.scope == "<module>" and shared.scope is shared.module.tree):
            names.append(name)
    return names


def _is_method(scope: Scope) -> bool:
    return isinstance(scope, ast.FunctionDef) and [a.arg for a in scope.args.args][:1] == ["self"]


def _assignment(story: Story, names: list[str], idiom: Idiom) -> list[str]:
    members = [cut_fields(story, n, idiom) or cut_layers(story, n, idiom) for n in names]
    if any(members):
        plain = [n for n, lines in zip(names, members, strict=True) if not lines]
        kept = _assignment(story, plain, idiom) if plain else []
        return [*kept, *dict.fromkeys(line for lines in members for line in lines)]
    values = [detached(name, story.held[name], idiom) for name in names]
    if len(names) > 1 and all("for " not in value for value in values):
        return [f"{', '.join(names)} = {', '.join(values)}"]
    return [f"{name} = {value}" for name, value in zip(names, values, strict=True)]


def _guarded(story: Story, names: list[str], lines: list[str]) -> list[str]:
    """The lines under `if x is not None:` where the first pass may find None."""
    shared = story.shared
    assert shared is not None
    scope: ast.AST = shared.scope
    own = names[0]
    if "." in own:
        scope, own = shared.module.tree, f"self.{own.rpartition('.')[2]}"
    if starts_as_none(scope, own) or starts_as_none(scope, names[0]):
        return [f"if {names[0]} is not None:", *(f"    {line}" for line in lines)]
    return lines


def _cut(strategy: str, title: str, edits: tuple[Edit, ...], rank: int) -> Proposal:
    return Proposal(strategy, title, edits, "truncated", _TRADEOFF, rank)


def detach_where_stored(story: Story, project: Project, rank: int = 0) -> Iterator[Proposal]:
    """Detach what the statement stores; or only the old part of what it computes."""
    idiom = idiom_for(story.reuse, project)
    yield from _handed_detached(story, idiom, rank)
    whole: list[Edit] = []
    old: list[Edit] = []
    inner = False
    for one in story.of_each_carrier():
        for module, scope, statement in one.binders:
            if _may_store(scope) and _in_loop(one, scope, statement):
                whole += _store_edits(Editor(module), statement, one, idiom)
                old += _old_part_edits(Editor(module), statement, one, idiom)
                inner = inner or _within_segment(one, scope, statement)
    rank += 4 if inner else 0  # between the steps of one segment the state stays connected
    if whole:
        yield _cut("detach-when-stored", f"Detach what `{story.name}` stores", tuple(whole), rank)
    if old:
        yield _cut(
            "detach-old-part", f"Detach the old value of `{story.name}`", tuple(old), rank + 1
        )


def _handed_detached(story: Story, idiom: Idiom, rank: int) -> Iterator[Proposal]:
    """Detach what the loop hands to an object that keeps it: `bank.push(key.detach())`."""
    if story.shared is None or not story.handed:
        return
    editor = Editor(story.shared.module)
    edits = {h.argument: idiom.of(name) for name, h in story.handed.items()}
    names = ", ".join(f"`{name}`" for name in story.handed)
    yield _cut(
        "detach-when-handed-over",
        f"Detach {names} for `{story.name.rpartition('.')[0]}`",
        tuple(editor.replace(argument, text) for argument, text in edits.items()),
        rank - 1,
    )


def _may_store(scope: Scope) -> bool:
    return getattr(scope, "name", "") not in ("__init__", "__post_init__")


def _in_loop(story: Story, scope: Scope, statement: ast.stmt) -> bool:
    if story.shared is None or scope is not story.shared.scope or story.loop is None:
        return True
    return statement in set(ast.walk(story.loop))


def _within_segment(story: Story, scope: Scope, statement: ast.stmt) -> bool:
    """Whether the statement stands in a loop of its own inside the loop that was crossed."""
    if story.shared is None or scope is not story.shared.scope or story.loop is None:
        return False
    return story.shared.module.loops_around(statement)[:1] != [story.loop]


def _names(story: Story) -> set[str]:
    return {story.name, f"self.{story.attribute}" if story.attribute else story.name}


def _store_edits(editor: Editor, statement: ast.stmt, story: Story, idiom: Idiom) -> Iterator[Edit]:
    if isinstance(statement, ast.Expr) and isinstance(statement.value, ast.Call):
        for argument in statement.value.args[-1:]:
            yield from _detached_value(editor, argument, story, idiom)
        return
    value = value_of(statement)
    if value is None:
        return
    targets = statement.targets if isinstance(statement, ast.Assign) else []
    if any(isinstance(target, ast.Tuple | ast.List) for target in targets):
        name = next((n for n in sorted(_names(story)) if _binds(statement, n)), story.name)
        line = f"{name} = {detached(name, _renamed(story, name), idiom)}"
        yield editor.insert_after(statement, line)
        return
    yield from _detached_value(editor, value, story, idiom, stored=True)


def _binds(statement: ast.stmt, name: str) -> bool:
    return any(
        isinstance(node, ast.expr) and spelled(node) == name
        for target in getattr(statement, "targets", [])
        for node in ast.walk(target)
    )


def _renamed(story: Story, name: str):  # type: ignore[no-untyped-def]
    """The carrier's holder, spelled as the storing scope spells it."""
    holder = story.holder
    if holder is None or not holder.path.startswith(story.name):
        return None
    from dataclasses import replace

    return replace(holder, path=name + holder.path[len(story.name) :])


def _detached_value(
    editor: Editor, value: ast.expr, story: Story, idiom: Idiom, stored: bool = False
) -> Iterator[Edit]:
    """Edits that detach a stored expression: each element of a literal, or the whole."""
    if isinstance(value, ast.Tuple | ast.List):
        for element in value.elts:
            yield editor.replace(element, idiom.of(_atom(editor, element)))
        return
    if isinstance(value, ast.Dict):
        for item in value.values:
            yield editor.replace(item, idiom.of(_atom(editor, item)))
        return
    holder = story.holder
    structured = stored and holder is not None and holder.path.startswith(story.name + "[")
    if structured and not _element_store(editor.module, value):
        assert holder is not None
        text = editor.text_of(value)
        inner = _renamed(story, text)
        yield editor.replace(value, detached(text, inner, idiom))
        return
    yield editor.replace(value, idiom.of(_atom(editor, value)))


def _element_store(module: Module, value: ast.expr) -> bool:
    """Whether the value goes into one place of a container (`xs[i] = value`)."""
    parent = module.parents.get(value)
    return isinstance(parent, ast.Assign) and any(
        isinstance(target, ast.Subscript) for target in parent.targets
    )


def _atom(editor: Editor, node: ast.expr) -> str:
    text = editor.text_of(node)
    simple = isinstance(node, ast.Name | ast.Attribute | ast.Call | ast.Subscript)
    return text if simple else f"({text})"


def _old_part_edits(
    editor: Editor, statement: ast.stmt, story: Story, idiom: Idiom
) -> Iterator[Edit]:
    value = value_of(statement)
    if value is None:
        return
    for name in _names(story):
        if not mentions(value, name):
            continue
        for node in ast.walk(value):
            if isinstance(node, ast.Name | ast.Attribute) and spelled(node) == name:
                holder = _renamed(story, name)
                if holder is None or holder.path == name:
                    yield editor.replace(node, idiom.of(name))


def cut_window(story: Story, project: Project) -> Iterator[Proposal]:
    """Behind the walk, begin the window anew: as the script began it, or empty, or with the last
    state cut from its past."""
    shared, holder = story.shared, story.holder
    if shared is None or holder is None or not holder.container.startswith(("list", "deque")):
        return
    if story.name not in _visible(story):
        return
    editor = Editor(shared.module)
    walk = _last_of_pass(story)
    last = f"[{story.name}[-1].detach()]"
    if holder.container.startswith("deque"):
        last = f"deque({last}, maxlen={story.name}.maxlen)"
    lines = [f"{story.name}.clear()", f"{story.name} = {last}"]
    if (again := _begun_again(story)) is not None:
        lines.insert(0, f"{story.name} = {again}")
    for rank, line in enumerate(lines):
        title = f"Begin `{story.name}` anew behind the walk"
        yield _cut("restart-window", title, (editor.insert_after(walk, line),), rank)


def _last_of_pass(story: Story) -> ast.stmt:
    """The last statement of the block in which the walk of this pass stands, where that block
    holds further walks; else the walk (with its step)."""
    shared = story.shared
    assert shared is not None
    assert shared.freed is not None
    statement = _walk_statement(story)
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
