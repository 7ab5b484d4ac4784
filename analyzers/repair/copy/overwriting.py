"""Fixes for a saved value that was overwritten: write elsewhere, or save a copy."""

from __future__ import annotations

import ast
from collections.abc import Iterable, Iterator

from analyzers.explain.inplace import Stale
from analyzers.explain.pattern import Proposal
from analyzers.explain.spots import Spot, assignments_to
from analyzers.repair.blocks import joined
from analyzers.repair.copy.outofplace import cloned_first, out_of_place
from analyzers.repair.rewrite import without_true
from analyzers.source.edits import Edit, Editor
from analyzers.source.flow import called_name, statements_of
from analyzers.source.project import spelled
from analyzers.source.writes import Write, unsliced, writes


def _said(names: Iterable[str]) -> str:
    return " and ".join(f"`{name}`" for name in dict.fromkeys(names)) or "the value"


def not_in_place(stale: Stale, rank: int = 0) -> Iterator[Proposal]:
    """Every write to the tensor, out of place; then every such write of the function, since
    PyTorch tells of the first tensor only."""
    own = [(where, stale.concerned(where)) for where in stale.statements]
    rest = list(_alike(own))
    for written in (own, own + rest) if rest else (own,):
        edits = [
            edit
            for where, wanted in written
            for edit in out_of_place(where.module, where.statement, wanted.__contains__)
        ]
        if edits:
            names = [name for _, wanted in written for name in sorted(wanted)]
            title = f"Give {_said(names)} a new tensor instead of writing in place"
            late = 2 if _copies(edits) > 1 else 0  # one copy before the first write may do
            yield Proposal("out-of-place", title, joined(edits), "", rank + late)
        rank += 1


def _copies(edits: Iterable[Edit]) -> int:
    return sum(edit.text.count(".clone()") for edit in edits)


def _alike(own: list[tuple[Spot, set[str]]]) -> Iterator[tuple[Spot, set[str]]]:
    """Other writes in place near those of the evidence, in the same function."""
    known = {id(where.statement) for where, _ in own}
    for first, _ in own[:1]:
        for node in statements_of(first.scope):
            if id(node) in known:
                continue
            names = {w.name for w in writes(node) if _may_be_tensor(node, w)}
            if names:
                yield Spot(first.module, node, first.place), names


def _may_be_tensor(statement: ast.stmt, write: Write) -> bool:
    """Whether the write is one to a tensor by its form: a method, a slice, or a product of
    calls; a plain counter (`n += 1`) is none."""
    if isinstance(statement, ast.AugAssign) and not write.indexed:
        return not isinstance(statement.value, ast.Constant) and "item" not in spelled(
            statement.value
        )
    return not isinstance(statement, ast.Assign) or _is_tensor_index(write.target)


def _is_tensor_index(target: ast.expr) -> bool:
    """`x[:, t]` and `x[t + 1]`, not `table["key"]`."""
    if not isinstance(target, ast.Subscript):
        return False
    return not (isinstance(target.slice, ast.Constant) and isinstance(target.slice.value, str))


def clone_first(stale: Stale, rank: int = 1) -> Iterator[Proposal]:
    """A copy in front of the first write."""
    for where in stale.statements[:1]:
        yield from cloned_first(where, stale.concerned(where), rank)


def clone_saved(stale: Stale, rank: int = 3) -> Iterator[Proposal]:
    """A copy for the operation that keeps the value."""
    saving = stale.saving
    if saving is None:
        return
    edits = tuple(
        saving.editor.append_to(part, ".clone()")
        for part in _reads(saving, saving.statement, stale)
    )
    if edits:
        title = f"Keep a copy of {_said(stale.names[:1])} for the backward"
        yield Proposal("clone-what-is-saved", title, edits, "One copy more.", rank)


def _reads(where: Spot, statement: ast.stmt, stale: Stale) -> Iterator[ast.expr]:
    """The outermost expressions of a statement that read the tensor or a part of it."""
    parents = where.module.parents
    for node in ast.walk(statement):
        if not isinstance(node, ast.Name | ast.Attribute) or not stale.concerns(spelled(node)):
            continue
        outer: ast.expr = node
        while isinstance(parent := parents.get(outer), ast.Subscript) and parent.value is outer:
            outer = parent
        context = getattr(outer, "ctx", None)
        if isinstance(context, ast.Load) and not isinstance(parents.get(outer), ast.AugAssign):
            if not _is_path_part(parents.get(outer)):
                yield outer


def _is_path_part(parent: ast.AST | None) -> bool:
    """`x` in `x.append(...)` or `x.size(0)`: no value of the tensor is read."""
    return isinstance(parent, ast.Attribute) and parent.attr in _FACTS


_FACTS = frozenset({"size", "shape", "append", "ndim", "dtype", "device", "dim", "numel"})


def without_flag(stale: Stale, rank: int = 0) -> Iterator[Proposal]:
    """The modules called on the changing line, made without `inplace=True`; where they cannot be
    followed, those that the operation's name tells."""
    edits: dict[Edit, None] = {}
    for change, where in stale.changes:
        if list(writes(where.statement)):
            continue
        found = [
            edit
            for call in ast.walk(where.statement)
            if isinstance(call, ast.Call)
            for edit in _flags_of(stale, spelled(unsliced(call.func)))
        ]
        edits.update(dict.fromkeys(found or _flags_named(stale, change.op)))
        edits = edits or dict.fromkeys(_flags_passed_on(stale))
    if edits:
        title = "Build the module without `inplace=True`"
        yield Proposal("no-inplace-flag", title, tuple(edits), "", rank)


def _flags_passed_on(stale: Stale) -> Iterator[Edit]:
    """Edits that turn the flag off where it is handed on: in a table of arguments, in a call of
    a function that builds modules, as the default of a parameter."""
    for module in stale.project.modules.values():
        editor = Editor(module)
        for node in module.nodes:
            for name, value in _given(node):
                if name == "inplace" and isinstance(value, ast.Constant) and value.value is True:
                    yield editor.replace(value, "False")


def _given(node: ast.AST) -> Iterator[tuple[object, ast.expr]]:
    """Names with the values that a table, a call or a signature gives them."""
    match node:
        case ast.Dict(keys=keys, values=values):
            for key, value in zip(keys, values, strict=True):
                if isinstance(key, ast.Constant):
                    yield key.value, value
        case ast.Call(keywords=keywords):
            yield from ((keyword.arg, keyword.value) for keyword in keywords)
        case ast.arguments(args=args, defaults=defaults) if defaults:
            yield from zip((a.arg for a in args[-len(defaults) :]), defaults, strict=True)


def _flags_of(stale: Stale, name: str) -> Iterator[Edit]:
    """Edits that take `inplace=True` from what is assigned to a name."""
    for module, assignment in assignments_to(stale.project, name):
        for call in ast.walk(assignment.value):
            if isinstance(call, ast.Call):
                yield from _flag(Editor(module), call)


def _flags_named(stale: Stale, op: str) -> list[Edit]:
    """Edits that take `inplace=True` from every module of the operation's name; of every module
    if none has that name."""
    wanted = op.rstrip("_").replace("_", "")
    flags = [
        (called_name(call).lower() == wanted, edit)
        for module, call in stale.project.each(ast.Call)
        for edit in _flag(Editor(module), call)
    ]
    return [edit for is_named, edit in flags if is_named] or [edit for _, edit in flags]


def _flag(editor: Editor, call: ast.Call) -> Iterator[Edit]:
    if called_name(call)[:1].isupper():
        yield from without_true(editor, call, "inplace")
    if called_name(call) in ("ReLU", "ReLU6", "SiLU", "Mish", "SELU", "CELU") and call.args:
        argument = call.args[-1]
        if isinstance(argument, ast.Constant) and argument.value is True:
            yield editor.replace(argument, "")
