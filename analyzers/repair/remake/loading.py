"""Fixes for tensors with a graph that a data set hands out piece by piece: the network runs on each
batch, in the loop, and the data set holds what goes into it."""

from __future__ import annotations

import ast
from collections.abc import Iterator
from dataclasses import dataclass

from analyzers.explain.pattern import SECOND_CHOICE, Proposal
from analyzers.explain.reuse.story import Story
from analyzers.repair.blocks import joined
from analyzers.repair.rewrite import head_of
from analyzers.source.calls import calls_to
from analyzers.source.edits import Edit, Editor
from analyzers.source.flow import called_name, mentions, walk_scope
from analyzers.source.project import Loop, Module, Project, Scope, spelled
from analyzers.source.signatures import parameters
from analyzers.source.trees import walk


@dataclass(frozen=True)
class Kept:
    """A column of a data set that was computed by `network` from `data`, and the edits by which
    it holds the data."""

    column: int
    network: str
    edits: tuple[Edit, ...]


def network_on_each_batch(story: Story) -> Iterator[Proposal]:
    """The data set keeps the inputs; the loop runs the network on what it takes from it."""
    shared, loop = story.shared, story.loop
    if shared is None or loop is None:
        return
    for module, scope, statement in story.binders:
        if not isinstance(statement, ast.Assign):
            continue
        kept = _in_constructor(story.project, module, statement) or _in_call(
            module, scope, statement
        )
        target = _column_of(loop, kept.column) if kept is not None else None
        if kept is not None and target is not None:
            line = f"{target} = {kept.network}({target})"
            first = Editor(shared.module).insert_before(head_of(loop), line)
            title, edits = f"Run `{kept.network}` on each batch", joined([*kept.edits, first])
            cost = "The forward runs once in each pass."
            yield Proposal("network-on-each-batch", title, edits, cost, SECOND_CHOICE + 2)


def _applied(value: ast.expr) -> tuple[ast.expr, ast.expr] | None:
    """The network and its only input, where the value is a plain call of one on the other."""
    match value:
        case ast.Call(func=function, args=[ast.Name() | ast.Attribute() as given], keywords=[]):
            return function, given
    return None


def _in_call(module: Module, scope: Scope, statement: ast.Assign) -> Kept | None:
    """`codes = encoder(x)` that goes into `TensorDataset(codes, y)` in the same function."""
    applied, target = _applied(statement.value), spelled(statement.targets[0])
    editor = Editor(module)
    for call in walk_scope(scope):
        if applied is None or not isinstance(call, ast.Call):
            continue
        held = [spelled(argument) for argument in call.args]
        if called_name(call) == "TensorDataset" and target in held:
            network, given = (editor.text_of(part) for part in applied)
            edits = (editor.delete(statement), editor.replace(call.args[held.index(target)], given))
            return Kept(held.index(target), network, edits)
    return None


def _in_constructor(project: Project, module: Module, statement: ast.Assign) -> Kept | None:
    """`self.inputs = embedding(tokens)` in a data set that is given both, and hands `inputs[i]`
    out as one of a tuple."""
    applied, owner = _applied(statement.value), module.class_of(statement)
    if applied is None or owner is None or not isinstance(applied[0], ast.Name):
        return None
    column = _handed_out(owner, spelled(statement.targets[0]))
    constructor = module.scope_of(statement)
    taken = parameters(constructor) if isinstance(constructor, ast.FunctionDef) else []
    made = [call for _, call in calls_to(project, owner.name)]
    name = applied[0].id
    if column is None or len(made) != 1 or name not in taken:
        return None
    given = made[0].args[taken.index(name) :][:1]
    if not given or not isinstance(given[0], ast.Name | ast.Attribute):
        return None
    editor = Editor(module)
    edit = editor.replace(statement.value, editor.text_of(applied[1]))
    return Kept(column, spelled(given[0]), (edit,))


def _handed_out(owner: ast.ClassDef, name: str) -> int | None:
    """Which of the tuple that `__getitem__` returns is taken from the attribute."""
    for node in walk(owner):
        if isinstance(node, ast.FunctionDef) and node.name == "__getitem__":
            for inner in walk(node):
                if isinstance(inner, ast.Return) and isinstance(inner.value, ast.Tuple):
                    found = [i for i, part in enumerate(inner.value.elts) if mentions(part, name)]
                    return found[0] if len(found) == 1 else None
    return None


def _column_of(loop: Loop, column: int) -> str | None:
    """The loop's name for a column of its batches, also behind `enumerate`."""
    target = loop.target if not isinstance(loop, ast.While) else None
    if isinstance(target, ast.Tuple) and isinstance(target.elts[-1], ast.Tuple):
        target = target.elts[-1]
    if not isinstance(target, ast.Tuple) or column >= len(target.elts):
        return None
    return spelled(target.elts[column])
