"""Fixes for tensors that are stored with their graph: store the value alone."""

from __future__ import annotations

import ast
import re
from collections.abc import Iterator, Sequence

from analyzers.evidence import Holder, Place
from analyzers.explain.pattern import Proposal
from analyzers.explain.spots import assignments_to, names_held, root_of, spot
from analyzers.repair.blocks import indentation, joined, rewritten
from analyzers.repair.rewrite import unused_name
from analyzers.source.edits import Edit, Editor
from analyzers.source.flow import called_name
from analyzers.source.project import Module, Project, is_path, spelled
from analyzers.source.reads import read_behind
from analyzers.source.trees import walk

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
        yield Proposal("detach-when-stored", title, joined(edits), "", rank)
    where = spot(project, at)
    for node in walk(where.statement) if where is not None else ():
        if where is not None and isinstance(node, ast.Call) and called_name(node) == "deepcopy":
            if node.args and spelled(node.args[0]) in names:
                text = where.editor.text_of(node.args[0])
                edit = where.editor.replace(node, f"{text}.detach().clone()")
                title = f"Copy the value of `{text}`"
                yield Proposal("detach-and-clone", title, (edit,), "", rank)


def dropped_first(
    holders: Sequence[Holder], at: Place | None, project: Project, rank: int = 1
) -> Iterator[Proposal]:
    """What a forward left behind, let go in front of the copy: the next forward stores it anew."""
    where = spot(project, at)
    names = [name for name in names_held(holders) if "." in name]
    if where is None or not names or not is_path(root_of(names[0])):
        return
    held = root_of(names[0])
    line = f"{held}.clear()" if held != names[0] else f"{held} = None"
    title = f"Let go of what `{held}` holds before the copy"
    edit = where.editor.insert_before(where.statement, line)
    yield Proposal("drop-before-copy", title, (edit,), "", rank)


def computed_anew(holders: Sequence[Holder], project: Project, rank: int = 0) -> Iterator[Proposal]:
    """An attribute that a class derives from its parameters, as a property: computed at each use,
    never stored."""
    for name in names_held(holders):
        stores = [
            (module, node)
            for module, node in assignments_to(project, name)
            if len(node.targets) == 1 and not _is_plain(node.value)
        ]
        if "." not in name or len(stores) != 1:
            continue
        module, store = stores[0]
        maker, owner = module.scope_of(store), module.class_of(store)
        if isinstance(maker, ast.FunctionDef) and owner is not None and _is_own(module, store):
            edits = _as_property(module, store, maker, owner)
            title = f"Compute `{spelled(store.targets[0])}` where it is used, as a property"
            yield Proposal("property", title, joined(edits), "", rank)
            return


def _is_own(module: Module, store: ast.Assign) -> bool:
    """Whether a store to `self.x` reads nothing but the object's own attributes."""
    target = store.targets[0]
    own = isinstance(target, ast.Attribute) and spelled(target.value) == "self"
    names = [n for n in walk(store.value) if isinstance(n, ast.Name) and n.id != "self"]
    return own and all(module.in_library(name.id) for name in names)


def _as_property(
    module: Module, store: ast.Assign, maker: ast.FunctionDef, owner: ast.ClassDef
) -> Iterator[Edit]:
    """The store taken out, and a method that has nothing left to do, with its calls."""
    editor, step = Editor(module), indentation(module)
    target = store.targets[0]
    assert isinstance(target, ast.Attribute)
    lines = [
        "@property",
        f"def {target.attr}(self):",
        f"{step}return {editor.text_of(store.value)}",
    ]
    if maker.body != [store]:
        yield editor.delete(store)
        yield editor.insert_before(maker, *lines, "")
        return
    yield rewritten(editor, [maker], lines)
    for node in walk(owner):
        if isinstance(node, ast.Expr) and spelled(node.value) == f"self.{maker.name}()":
            yield editor.delete(node)


def _where_stored(name: str, project: Project) -> Iterator[Edit]:
    key = _KEY.search(name)
    if key is not None:
        yield from _entries(key[1], project)
    elif "." in name:
        for module, assignment in assignments_to(project, name):
            if not _is_plain(assignment.value):
                yield from _as_stored(module, assignment)


def _as_stored(module: Module, store: ast.Assign) -> Iterator[Edit]:
    """The value detached as it is stored; what the function goes on to read of the attribute, it
    reads under a name of its own, with its graph."""
    editor, target = Editor(module), store.targets[0]
    later = read_behind(module.scope_of(store), store, spelled(target))
    if not later or not isinstance(target, ast.Attribute) or len(store.targets) > 1:
        yield _detached(editor, store.value)
        return
    own = unused_name(module, target.attr)
    yield editor.replace(target, own)
    yield editor.insert_after(store, f"{editor.text_of(target)} = {own}.detach()")
    yield from (editor.replace(node, own) for node in later)


def _entries(key: str, project: Project) -> Iterator[Edit]:
    """What dictionaries of the project are given under a key."""
    for module in project.modules.values():
        editor = Editor(module)
        for node in module.nodes:
            for given, value in _filed(node):
                if given == key and not _is_plain(value):
                    yield _detached(editor, value)


def _filed(node: ast.AST) -> Iterator[tuple[object, ast.expr]]:
    """The keys that an expression or statement gives values in a dictionary, with the values."""
    match node:
        case ast.Dict(keys=keys, values=values):
            for key, value in zip(keys, values, strict=True):
                if isinstance(key, ast.Constant):
                    yield key.value, value
        case ast.Call(func=ast.Name(id="dict"), keywords=keywords):
            yield from ((keyword.arg, keyword.value) for keyword in keywords)
        case ast.Assign(targets=[ast.Subscript(slice=ast.Constant(value=key)), *_], value=value):
            yield key, value


def _is_plain(value: ast.expr) -> bool:
    """None, a number, a string, an empty container, or detached already."""
    return isinstance(value, ast.Constant | ast.Dict | ast.List | ast.Tuple) or (
        isinstance(value, ast.Call) and called_name(value) in ("detach", "item", "float")
    )


def _detached(editor: Editor, value: ast.expr) -> Edit:
    return editor.append_to(value, ".detach()")
