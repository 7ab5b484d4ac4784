"""Fixes for tensors that are stored with their graph: store the value alone."""

from __future__ import annotations

import ast
import re
from collections.abc import Iterator, Sequence

from analyzers.blocks import joined
from analyzers.edits import Edit, Editor
from analyzers.evidence import Holder, Place
from analyzers.flow import called_name
from analyzers.pattern import Proposal
from analyzers.source import Project, spelled
from analyzers.spots import assignments_to, names_held, spot

_KEY = re.compile(r"\[['\"]([^'\"]+)['\"]\]$")


def stored_detached(
    holders: Sequence[Holder], at: Place | None, project: Project, rank: int = 0
) -> Iterator[Proposal]:
    """`.detach()` where the tensor is stored; else on what is copied."""
    names = names_held(holders)
    edits = [edit for name in names for edit in _where_stored(name, project)]
    if edits:
        told = " and ".join(f"`{name}`" for name in names[:2])
        title = f"Store {told} without its graph"
        yield Proposal("detach-when-stored", title, joined(edits), "unknown", "", rank)
    where = spot(project, at)
    for node in ast.walk(where.statement) if where is not None else ():
        if where is not None and isinstance(node, ast.Call) and called_name(node) == "deepcopy":
            if node.args and spelled(node.args[0]) in names:
                text = where.editor.text_of(node.args[0])
                edit = where.editor.replace(node, f"{text}.detach().clone()")
                title = f"Copy the value of `{text}`"
                yield Proposal("detach-and-clone", title, (edit,), "same", "", rank)


def _where_stored(name: str, project: Project) -> Iterator[Edit]:
    key = _KEY.search(name)
    if key is not None:
        yield from _entries(key[1], project)
    elif "." in name:
        for module, assignment in assignments_to(project, name):
            if not _is_plain(assignment.value):
                yield _detached(Editor(module), assignment.value)


def _entries(key: str, project: Project) -> Iterator[Edit]:
    """What dictionaries of the project are given under a key."""
    for module in project.modules.values():
        editor = Editor(module)
        for node in ast.walk(module.tree):
            if isinstance(node, ast.Dict):
                for given, value in zip(node.keys, node.values, strict=True):
                    if isinstance(given, ast.Constant) and given.value == key:
                        yield from () if _is_plain(value) else (_detached(editor, value),)
            if isinstance(node, ast.Call) and spelled(node.func) == "dict":
                for keyword in node.keywords:
                    if keyword.arg == key and not _is_plain(keyword.value):
                        yield _detached(editor, keyword.value)
            if isinstance(node, ast.Assign) and isinstance(node.targets[0], ast.Subscript):
                index = node.targets[0].slice
                if isinstance(index, ast.Constant) and index.value == key:
                    yield from () if _is_plain(node.value) else (_detached(editor, node.value),)


def _is_plain(value: ast.expr) -> bool:
    """None, a number, a string, an empty container, or detached already."""
    return isinstance(value, ast.Constant | ast.Dict | ast.List | ast.Tuple) or (
        isinstance(value, ast.Call) and called_name(value) in ("detach", "item", "float")
    )


def _detached(editor: Editor, value: ast.expr) -> Edit:
    return editor.append_to(value, ".detach()")
