"""Fixes that detach what is kept, where it is put into its store."""

from __future__ import annotations

import ast
from collections.abc import Iterator
from dataclasses import replace

from analyzers.evidence import Holder
from analyzers.explain.pattern import SECOND_CHOICE, Proposal
from analyzers.explain.reuse.lifetimes import base
from analyzers.explain.reuse.recordtypes import record_arguments
from analyzers.explain.reuse.story import Story
from analyzers.explain.spots import spot
from analyzers.repair.cut.cutting import cut
from analyzers.repair.cut.detaching import Idiom, detached, idiom_for
from analyzers.source.edits import Edit, Editor
from analyzers.source.flow import called_name, mentions, part_for, value_of
from analyzers.source.project import Module, Scope, spelled
from analyzers.source.trees import walk

_FACTORIES = ("zeros", "ones", "empty", "full", "rand", "randn", "zeros_like", "new_zeros")


def detach_where_stored(story: Story, rank: int = 0) -> Iterator[Proposal]:
    """Detach what the statement stores; or only the old part of what it computes."""
    idiom = idiom_for(story)
    yield from _handed_detached(story, idiom, rank)
    whole: list[Edit] = []
    old: list[Edit] = []
    inner = False
    for one in story.of_each_carrier():
        for module, scope, statement in one.binders:
            if _may_store(scope) and _in_loop(one, scope, statement) and not _is_plain(statement):
                whole += _store_edits(Editor(module), statement, one, idiom)
                old += _old_part_edits(Editor(module), statement, one, idiom)
                inner = inner or _within_segment(one, scope, statement)
    if inner or _among_entries(story):
        # What one segment, or one loss, reads of the pass's own stays connected.
        rank += SECOND_CHOICE
    if whole:
        yield cut("detach-when-stored", f"Detach what `{story.name}` stores", tuple(whole), rank)
    if old:
        yield cut(
            "detach-old-part", f"Detach the old value of `{story.name}`", tuple(old), rank + 1
        )


def _among_entries(story: Story) -> bool:
    """Whether the line that reads an old entry reads another one beside it: one of them is new
    (`store[-1] - store[-2]`)."""
    for join in story.reuse.joins:
        where = spot(story.project, join.new.at if join.new is not None else None)
        entries = {
            spelled(node.slice)
            for node in walk(where.statement if where is not None else ast.Pass())
            if isinstance(node, ast.Subscript)
            and spelled(node.value).rpartition(".")[2] == (story.attribute or story.name)
        }
        if len(entries) > 1:
            return True
    return False


def _handed_detached(story: Story, idiom: Idiom, rank: int) -> Iterator[Proposal]:
    """Detach what the loop hands to an object that keeps it: `bank.push(key.detach())`."""
    if story.shared is None or not story.handed:
        return
    names = ", ".join(f"`{name}`" for name in story.handed)
    yield cut(
        "detach-when-handed-over",
        f"Detach {names} for `{story.name.rpartition('.')[0]}`",
        tuple(
            Editor(handing.module).replace(handing.argument, idiom.of(name))
            for name, handing in story.handed.items()
        ),
        rank - 1,
    )


def _may_store(scope: Scope) -> bool:
    return getattr(scope, "name", "") not in ("__init__", "__post_init__")


def _is_plain(statement: ast.stmt) -> bool:
    """Whether the statement binds a constant, which has no graph."""
    return isinstance(value_of(statement), ast.Constant)


def _in_loop(story: Story, scope: Scope, statement: ast.stmt) -> bool:
    if story.shared is None or scope is not story.shared.scope or story.loop is None:
        return True
    return statement in set(walk(story.loop))


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
    value = part_for(statement, lambda name: name in _names(story))
    if value is None:
        return
    targets = statement.targets if isinstance(statement, ast.Assign) else []
    if value is value_of(statement) and any(
        isinstance(target, ast.Tuple | ast.List) for target in targets
    ):
        for target in _targets_of(statement, story):
            name = editor.text_of(target)
            constant = detached(name, _renamed(story, name), idiom)
            if constant is not None:
                yield editor.insert_after(statement, f"{name} = {constant}")
        return
    yield from _detached_value(editor, value, story, idiom, stored=True)


def _targets_of(statement: ast.stmt, story: Story) -> Iterator[ast.expr]:
    """The targets of an assignment that stand for the carrier, or for an entry of it."""
    for target in getattr(statement, "targets", []):
        for part in target.elts if isinstance(target, ast.Tuple | ast.List) else [target]:
            if base(spelled(part)) in _names(story):
                yield part


def _renamed(story: Story, name: str) -> Holder | None:
    """The carrier's holder, spelled as the storing scope spells it; for an entry of the carrier
    (`states["h"]`), what the entry itself holds."""
    holder = story.holder
    if holder is None or not holder.path.startswith(story.name):
        return None
    inner = holder.path[len(story.name) :]
    kinds = holder.container.replace("]", "").split("[")
    for _ in range(name.endswith("]")):
        inner = inner[inner.find("]") + 1 :]
        kinds = kinds[1:]
    container = "[".join(kinds) + "]" * (len(kinds) - 1)
    return replace(holder, path=name + inner, container=container)


def _detached_value(
    editor: Editor, value: ast.expr, story: Story, idiom: Idiom, stored: bool = False
) -> Iterator[Edit]:
    """Edits that detach a stored expression: each element of a literal, each tensor of a record,
    or the whole."""
    parts = _written_out(value, story)
    if parts is not None:
        yield from (idiom.at(editor, part) for part in parts)
        return
    holder = story.holder
    structured = stored and holder is not None and holder.path.startswith(story.name + "[")
    if structured and not _element_store(editor.module, value):
        assert holder is not None
        text = editor.text_of(value)
        constant = detached(text, _renamed(story, text), idiom)
        yield from [editor.replace(value, constant)] if constant is not None else []
        return
    yield idiom.at(editor, value)


def _written_out(value: ast.expr, story: Story) -> list[ast.expr] | None:
    """The parts of a literal, or those of a record that held old graphs; None for what is none."""
    match value:
        case ast.Tuple(elts=parts) | ast.List(elts=parts) | ast.Dict(values=parts):
            return parts
        case ast.Call() if given := record_arguments(story.project, value):
            held = _fields_held(story)
            return [part for field, part in given.items() if field in held and not _is_new(part)]
    return None


def _fields_held(story: Story) -> set[str]:
    """The fields under which the stored records held old graphs."""
    paths = {holder.path for join in story.reuse.joins for holder in join.holders}
    return {path.rpartition(".")[2] for path in paths if path.startswith(f"{story.name}[")}


def _is_new(value: ast.expr) -> bool:
    """Whether the expression makes a tensor that never had a graph."""
    return isinstance(value, ast.Call) and called_name(value) in _FACTORIES


def _element_store(module: Module, value: ast.expr) -> bool:
    """Whether the value goes into one place of a container (`xs[i] = value`)."""
    parent = module.parents.get(value)
    return isinstance(parent, ast.Assign) and any(
        isinstance(target, ast.Subscript) for target in parent.targets
    )


def _old_part_edits(
    editor: Editor, statement: ast.stmt, story: Story, idiom: Idiom
) -> Iterator[Edit]:
    value = value_of(statement)
    if value is None:
        return
    for name in _names(story):
        if not mentions(value, name):
            continue
        for node in walk(value):
            if isinstance(node, ast.Name | ast.Attribute) and spelled(node) == name:
                holder = _renamed(story, name)
                if holder is None or holder.path == name:
                    yield editor.replace(node, idiom.of(name))
