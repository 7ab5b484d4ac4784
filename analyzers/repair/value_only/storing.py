"""Fix tensors that are stored with their graph: store the value alone."""

from __future__ import annotations

import ast
import re
from collections.abc import Iterator, Sequence

from analyzers.explain.listed import said
from analyzers.explain.pattern import Proposal
from analyzers.explain.reuse.recordtypes import record_fields
from analyzers.explain.source_locations import assignments_to, names_held, resolve_location, root_of
from analyzers.repair.blocks import indentation, joined
from analyzers.repair.cut.detaching import LEAF, TORCH
from analyzers.repair.leaf.leaves import is_update, under_no_grad
from analyzers.repair.rewrite import unused_name
from analyzers.repair.sites.module_names import replace_of, with_imports
from analyzers.repair.sites.statement_facts import under_own_name
from analyzers.source.callees import is_call
from analyzers.source.calls import calls_of
from analyzers.source.edits import Edit, Editor
from analyzers.source.project import Module, Project, is_path, spelled
from analyzers.source.targets import assigned_pairs, keyed
from provenance import CodeLine, Referrer

_OF_ENTRY = re.compile(r"(.+)\.\d+\.(\w+)")  # `net.layers.0.gate`, as parameters are called
_KEY = re.compile(r"\[['\"]([^'\"]+)['\"]\]$")
NAMES = frozenset({"weight_norm", "spectral_norm"})
_OLD, _NEW = "torch.nn.utils", "torch.nn.utils.parametrizations"


def stored_detached(
    holders: Sequence[Referrer],
    at: CodeLine | None,
    project: Project,
    rank: int = 0,
    made: CodeLine | None = None,
) -> Iterator[Proposal]:
    """Yield proposals with `.detach()` where the tensor is stored, else where it was seen to be
    `made`, or without recording if it was made in place; as a leaf, if the copy is to learn; else
    on what is copied.
    """
    names = names_held(holders)
    edits = [edit for name in names for edit in _where_stored(name, project)]
    if edits:
        title = f"Store {said(names[:2])} without its graph"
        yield Proposal("detach-when-stored", title, joined(edits), "", rank)
    elif (making := resolve_location(project, made)) is not None:
        for value in [v for _, v in assigned_pairs(making.statement) if not is_plain(v)]:
            cut, leaf = TORCH.at(making.editor, value), LEAF.at(making.editor, value)
            title = f"Make {said(names[:1])} without its graph"
            yield Proposal("detach-when-stored", title, (cut,), "", rank)
            yield Proposal("new-leaf", f"{title}, as a leaf that can learn", (leaf,), "", rank + 1)
        if is_update(making.statement):
            yield from under_no_grad(making, rank, said(names[:1]))
    where = resolve_location(project, at)
    for call in calls_of(where.statement, "copy.deepcopy") if where is not None else ():
        if where is None or not call.args:
            continue
        text = where.editor.text_of(call.args[0])
        if spelled(call.args[0]) in names:
            edit = where.editor.replace(call, f"{text}.detach().clone()")
            yield Proposal("detach-and-clone", f"Copy the value of `{text}`", (edit,), "", rank)
        fields = [name.removeprefix(f"{text}.") for name in names if name.startswith(f"{text}.")]
        if given := _fields_alone(fields, where.module, text, project):
            replaced = where.editor.replace(call, f"{replace_of(where.module)}({text}, {given})")
            both = joined([replaced, *with_imports(where.module, frozenset({"replace"}))])
            title = f"Copy `{text}` with the values of {said(fields)}"
            yield Proposal("detach-and-clone", title, both, "", rank)


def _fields_alone(fields: Sequence[str], module: Module, name: str, project: Project) -> str:
    """Return keywords that give a copy of the script's dataclass the values of these fields."""
    known = [
        kind
        for _, kind in project.each(ast.ClassDef)
        if any("dataclass" in spelled(getattr(d, "func", d)) for d in kind.decorator_list)
        and set(fields) <= {*record_fields(project, kind.name)}
    ]
    if not fields or not known or replace_of(module) is None:
        return ""
    return ", ".join(f"{field}={name}.{field}.detach().clone()" for field in fields)


def dropped_first(
    holders: Sequence[Referrer], at: CodeLine | None, project: Project
) -> Iterator[Proposal]:
    """Propose to drop what a forward pass stored before the copy: the next one stores it again."""
    where = resolve_location(project, at)
    names = [name for name in names_held(holders) if "." in name]
    if where is None or not names:
        return
    held = root_of(names[0])
    entries = {found.groups() if (found := _OF_ENTRY.fullmatch(n)) else ("", "") for n in names}
    layers, kept = next(iter(entries))
    if is_path(held):
        lines = [f"{held}.clear()" if held != names[0] else f"{held} = None"]
    elif len(entries) == 1 and is_path(layers):
        held, one = f"{layers}[...].{kept}", unused_name(where.module, "layer")
        lines = [f"for {one} in {layers}:", f"{indentation(where.module)}{one}.{kept} = None"]
    else:
        return
    title = f"Let go of what `{held}` holds before the copy"
    edit = where.editor.insert_before(where.statement, *lines)
    yield Proposal("drop-before-copy", title, (edit,), "", 1)


def _where_stored(name: str, project: Project) -> Iterator[Edit]:
    if (key := _KEY.search(name)) is not None:
        yield from _entries(key[1], project)
    elif "." in name:
        for module, assignment in assignments_to(project, name):
            if not is_plain(assignment.value):
                yield from _as_stored(module, assignment)


def _as_stored(module: Module, store: ast.Assign) -> Iterator[Edit]:
    """Yield edits that detach the value as it is stored; later reads in the function use a local
    name, with its graph.
    """
    edits = under_own_name(module, store, TORCH.of)
    yield from edits or [TORCH.at(Editor(module), store.value)]


def _entries(key: str, project: Project) -> Iterator[Edit]:
    """Yield edits for what dictionaries of the project receive under a key."""
    for module in project.modules.values():
        for node in module.nodes:
            for given, value in keyed(node) if isinstance(node, ast.Dict | ast.Assign) else ():
                if given == key and not is_plain(value):
                    yield Editor(module).append_to(value, ".detach()")


def is_plain(value: ast.expr) -> bool:
    """Return True for None, a number, a string, an empty container, or a detached value."""
    return isinstance(value, ast.Constant | ast.Dict | ast.List | ast.Tuple) or (
        isinstance(value, ast.Call)
        and is_call(value, "torch.Tensor.detach", "torch.Tensor.item", "torch.Tensor.float")
    )


def reparametrised(project: Project) -> Iterator[Proposal]:
    """Yield a proposal with the newer functions of the same names."""
    edits = [edit for module in project.modules.values() for edit in _renewed(module)]
    if edits:
        title = f"Take it from `{_NEW}`, which keeps no computed weight"
        yield Proposal("parametrization", title, joined(edits))


def _renewed(module: Module) -> Iterator[Edit]:
    editor = Editor(module)
    for node in module.each(ast.ImportFrom):
        names = [item.name for item in node.names]
        if node.module in (_OLD, *(f"{_OLD}.{name}" for name in NAMES)) and NAMES & set(names):
            yield from _imported(editor, node)
    for attribute in module.each(ast.Attribute):
        owner = spelled(attribute.value)
        if attribute.attr in NAMES and (owner == "utils" or owner.endswith("nn.utils")):
            yield editor.append_to(attribute.value, ".parametrizations")


def _imported(editor: Editor, node: ast.ImportFrom) -> Iterator[Edit]:
    """Yield edits that import the same names from there; others stay where they come from."""
    moved, others = (
        [f"{n.name} as {n.asname}" if n.asname else n.name for n in node.names if keep(n.name)]
        for keep in (NAMES.__contains__, lambda name: name not in NAMES)
    )
    line = f"from {_NEW} import {', '.join(moved)}"
    if others:
        yield editor.replace(node, f"from {node.module} import {', '.join(others)}")
        yield editor.insert_after(node, line)
    else:
        yield editor.replace(node, line)
