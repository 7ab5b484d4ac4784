"""Copies of an object that goes on to be computed with: it shares the tensors, so that its history
is theirs, and has lists of its own."""

from __future__ import annotations

import ast
from collections.abc import Iterator, Sequence

from analyzers.evidence import Holder, Place
from analyzers.explain.pattern import Proposal
from analyzers.explain.source_locations import SourceLocation, names_held, resolve_location
from analyzers.repair.blocks import joined
from analyzers.repair.sites.names import replace_of, with_imports
from analyzers.source.calls import calls_named
from analyzers.source.edits import Edit
from analyzers.source.flow import bindings
from analyzers.source.project import Project, spelled
from analyzers.source.targets import assigned_pairs
from analyzers.source.trees import position, walk

_CONTAINERS = ("list", "dict", "set")
_NESTED = (ast.List, ast.Dict, ast.Set, ast.ListComp, ast.DictComp)
_CHANGING = frozenset(
    {"append", "appendleft", "extend", "insert", "pop", "remove", "update", "add", "setdefault"}
    | {"clear", "sort", "add_", "mul_", "copy_", "zero_"}
)


def shared_copy(
    holders: Sequence[Holder], at: Place | None, project: Project, rank: int = 0
) -> Iterator[Proposal]:
    """`copy.copy` in place of `copy.deepcopy`, or `replace` of a dataclass, with copies of the
    object's containers, where the copy is of a class of the script's and has its methods called."""
    where = resolve_location(project, at)
    for call in calls_named(where.statement, "deepcopy") if where is not None else ():
        held = spelled(call.args[0]) if call.args else ""
        parts = {
            n.removeprefix(f"{held}.") for n in names_held(holders) if n.startswith(f"{held}.")
        }
        kinds = [kind for _, kind in project.each(ast.ClassDef) if parts and parts <= _fields(kind)]
        if where is None or len(kinds) != 1 or not held.isidentifier() or not _goes_on(where):
            continue
        added = {spelled(n.target) for n in walk(kinds[0]) if isinstance(n, ast.AugAssign)}
        if added & {f"self.{name}" for name in parts}:
            continue  # it writes into the tensor itself
        if _changed(kinds[0]) - {name for name, _ in _containers(kinds[0])}:
            continue  # what else is changed in place would be both objects' own
        edits = _as_dataclass(where, call, held, kinds[0]) or _plainly(where, call, held, kinds[0])
        if edits:
            title = f"Copy `{held}` with the tensors that it has"
            told = "The copy goes on from their history."
            yield Proposal("shared-copy", title, joined(edits), told, rank)
            return


def _fields(kind: ast.ClassDef) -> set[str]:
    """The attributes that objects of a class get."""
    own = {spelled(s.target) for s in kind.body if isinstance(s, ast.AnnAssign)}
    stores = (
        n for n in walk(kind) if isinstance(n, ast.Attribute) and isinstance(n.ctx, ast.Store)
    )
    return own | {node.attr for node in stores if spelled(node.value) == "self"}


def _changed(kind: ast.ClassDef) -> set[str]:
    """The attributes that methods of a class change in place, or that hold what may be so."""
    found = set()
    for node in walk(kind):
        match node:
            case ast.Call(func=ast.Attribute(value=held, attr=name)) if name in _CHANGING:
                found.add(spelled(held).partition("[")[0])
            case ast.Subscript(value=held, ctx=ast.Store() | ast.Del()):
                found.add(spelled(held).partition("[")[0])
            case ast.keyword(arg="init", value=ast.Constant(value=False)):
                found.add("self.init=False")
    return {name.removeprefix("self.") for name in found if name.startswith("self.")}


def _containers(kind: ast.ClassDef) -> Iterator[tuple[str, str]]:
    """The attributes that are lists, dictionaries or sets, as the text makes them, with which."""
    for node in walk(kind):
        match node:
            case ast.AnnAssign(target=ast.Name(id=name), value=ast.Call(keywords=given)):
                made = next((spelled(k.value) for k in given if k.arg == "default_factory"), "")
                if made in _CONTAINERS:
                    yield name, made
            case ast.Assign() | ast.AnnAssign(target=ast.Attribute(), value=ast.expr()):
                pairs = assigned_pairs(node)
                if isinstance(node, ast.AnnAssign) and node.value is not None:
                    pairs = [(node.target, node.value)]
                for target, value in pairs:
                    if any(isinstance(n, _NESTED) for n in walk(value) if n is not value):
                        continue  # a copy of it shares what is in it
                    made = type(value).__name__.lower().removesuffix("comp")
                    made = spelled(value.func) if isinstance(value, ast.Call) else made
                    if spelled(target).startswith("self.") and made in _CONTAINERS:
                        yield spelled(target).removeprefix("self."), made


def _as_dataclass(
    where: SourceLocation, call: ast.Call, held: str, kind: ast.ClassDef
) -> list[Edit]:
    """`replace(held, tacks=list(held.tacks))`."""
    named = replace_of(where.module)
    if named is None or not any("dataclass" in spelled(_called(d)) for d in kind.decorator_list):
        return []
    given = "".join(f", {name}={made}({held}.{name})" for name, made in _containers(kind))
    edit = where.editor.replace(call, f"{named}({held}{given})")
    return [edit, *with_imports(where.module, frozenset({"replace"}))]


def _plainly(where: SourceLocation, call: ast.Call, held: str, kind: ast.ClassDef) -> list[Edit]:
    """`copy.copy(held)`, and a statement behind it for each container."""
    if not isinstance(call.func, ast.Attribute):
        return []
    edits = [where.editor.replace(call.func, f"{spelled(call.func.value)}.copy")]
    lists = dict(_containers(kind))
    names = bindings(where.statement)
    if lists and (getattr(where.statement, "value", None) is not call or len(names) != 1):
        return []
    lines = [f"{names[0]}.{name} = {made}({held}.{name})" for name, made in lists.items()]
    return [*edits, *([where.editor.insert_after(where.statement, *lines)] if lines else [])]


def _called(node: ast.expr) -> ast.expr:
    return node.func if isinstance(node, ast.Call) else node


def _goes_on(where: SourceLocation) -> bool:
    """Whether a method of the copy is called behind it."""
    names = set(bindings(where.statement))
    called = (node.func for node in walk(where.scope) if isinstance(node, ast.Call))
    return any(
        isinstance(func, ast.Attribute)
        and spelled(func.value) in names
        and position(func) > position(where.statement)
        for func in called
    )
