"""Fix a saved value that was overwritten: write to a new tensor, or save a copy."""

from __future__ import annotations

import ast
from collections.abc import Iterator
from itertools import groupby

from analyzers.explain.inplace_changes import StaleValue
from analyzers.explain.listed import said
from analyzers.explain.pattern import Proposal
from analyzers.explain.source_locations import SourceLocation, assignments_to
from analyzers.repair.copy.outofplace import cloned_first, given_new
from analyzers.repair.rewrite import without_true
from analyzers.source.callees import creates_object, is_call, plain_name
from analyzers.source.detached import FACTS
from analyzers.source.edits import Edit, Editor
from analyzers.source.flow import statements_of
from analyzers.source.project import spelled
from analyzers.source.targets import assigned_pairs, keyed
from analyzers.source.trees import nodes_of
from analyzers.source.writes import Write, is_true, unsliced, writes


def not_in_place(stale: StaleValue, rank: int = 0) -> Iterator[Proposal]:
    """Yield proposals that make the first write to the tensor out of place, after which further
    ones write to another tensor; then every write to it; then every such write of the function,
    because PyTorch reports only the first tensor.
    """
    own = [(where, stale.concerned(where)) for where in stale.statements]
    rest = list(_alike(own))
    stages = (own[:1], own, own + rest)
    for later, written in enumerate(one for one, _ in groupby(stages)):
        yield from given_new(written, "in place", rank + later)


def _alike(own: list[tuple[SourceLocation, set[str]]]) -> Iterator[tuple[SourceLocation, set[str]]]:
    """Yield other in-place writes in the same function."""
    known = [where.statement for where, _ in own]
    for first, _ in own[:1]:
        for node in statements_of(first.scope):
            names = {w.name for w in writes(node) if _may_be_tensor(node, w)}
            if names and node not in known:
                yield SourceLocation(first.module, node, first.place), names


def _may_be_tensor(statement: ast.stmt, write: Write) -> bool:
    """Return True if the write is one to a tensor by its form: a method, a slice, or a product of
    calls; not a plain counter (`n += 1`) or an entry of a table (`table["key"]`).
    """
    if isinstance(statement, ast.AugAssign) and not write.indexed:
        plain = isinstance(statement.value, ast.Constant)
        return not plain and "item" not in spelled(statement.value)
    match statement, write.target:
        case ast.Assign(), ast.Subscript(slice=ast.Constant(value=str())):
            return False
    return not isinstance(statement, ast.Assign) or isinstance(write.target, ast.Subscript)


def clone_first(stale: StaleValue, rank: int = 1) -> Iterator[Proposal]:
    """Yield a proposal that copies before the first write."""
    for where in stale.statements[:1]:
        yield from cloned_first(where, stale.concerned(where), rank)


def clone_saved(stale: StaleValue, rank: int = 3) -> Iterator[Proposal]:
    """Yield a proposal that gives a copy to the operation that saves the value."""
    saving = stale.saving
    if saving is None:
        return
    edits = tuple(
        saving.editor.append_to(part, ".clone()")
        for part in _reads(saving, saving.statement, stale)
    )
    if edits:
        title = f"Keep a copy of {said(stale.names[:1])} for the backward"
        yield Proposal("clone-what-is-saved", title, edits, "One copy more.", rank)


def clone_made(stale: StaleValue, rank: int = 3) -> Iterator[Proposal]:
    """Yield a proposal that gives the names of the tensor a copy of what the operation computed and
    saved, for whatever function writes to it.
    """
    saving = stale.saving
    held = {holder.path for holder in stale.evidence.holders}
    for target, value in assigned_pairs(saving.statement) if saving is not None else ():
        if saving is not None and spelled(target) in held and isinstance(value, ast.Call):
            title = f"Give `{spelled(target)}` a copy of what is saved for the backward"
            edit = saving.editor.append_to(value, ".clone()")
            yield Proposal("clone-what-is-made", title, (edit,), "One copy more.", rank)


def _reads(where: SourceLocation, statement: ast.stmt, stale: StaleValue) -> Iterator[ast.expr]:
    """Yield the outermost expressions of a statement that read the tensor or a part of it."""
    parents = where.module.parents
    for node in nodes_of(statement, ast.Name, ast.Attribute):
        if not stale.concerns(spelled(node)):
            continue
        outer: ast.expr = node
        while isinstance(parent := parents.get(outer), ast.Subscript) and parent.value is outer:
            outer = parent
        facts = isinstance(parent, ast.Attribute) and parent.attr in (*FACTS, "append")
        if isinstance(getattr(outer, "ctx", None), ast.Load) and not facts:
            yield outer


def without_flag(stale: StaleValue) -> Iterator[Proposal]:
    """Yield a proposal that removes `inplace=True` from the modules called on the changing line; if
    they are unknown, from those that the operation's name suggests; else wherever the flag is
    passed on.
    """
    edits: dict[Edit, None] = {}
    for change, where in stale.changes:
        if list(writes(where.statement)):
            continue
        calls = nodes_of(where.statement, ast.Call)
        found = [e for call in calls for e in _flags_of(stale, spelled(unsliced(call.func)))]
        edits.update(dict.fromkeys(found or _flags_named(stale, change.op)))
        edits = edits or dict.fromkeys(_flags_passed_on(stale))
    if edits:
        title = "Build the module without `inplace=True`"
        yield Proposal("no-inplace-flag", title, tuple(edits))


def _flags_passed_on(stale: StaleValue) -> Iterator[Edit]:
    """Yield edits that turn the flag off where it is passed on: in a table of arguments, in a call
    of a function that builds modules, as the default of a parameter.
    """
    for module in stale.project.modules.values():
        for node in module.nodes:
            for name, value in keyed(node):
                if name == "inplace" and is_true(value):
                    yield Editor(module).replace(value, "False")


def _flags_of(stale: StaleValue, name: str) -> Iterator[Edit]:
    """Yield edits that remove `inplace=True` from what is assigned to a name."""
    for module, assignment in assignments_to(stale.project, name):
        for call in nodes_of(assignment.value, ast.Call):
            yield from _flag(Editor(module), call)


def _flags_named(stale: StaleValue, op: str) -> list[Edit]:
    """Return edits that remove `inplace=True` from every module of the operation's name."""
    wanted = op.rstrip("_").replace("_", "")
    return [
        edit
        for module, call in stale.project.each(ast.Call)
        if plain_name(call).lower() == wanted
        for edit in _flag(Editor(module), call)
    ]


def _flag(editor: Editor, call: ast.Call) -> Iterator[Edit]:
    if creates_object(call):
        yield from without_true(editor, call, "inplace")
    if is_call(
        call,
        "torch.nn.ReLU",
        "torch.nn.ReLU6",
        "torch.nn.SiLU",
        "torch.nn.Mish",
        "torch.nn.SELU",
        "torch.nn.CELU",
    ):
        yield from (editor.replace(value, "") for value in call.args[-1:] if is_true(value))
