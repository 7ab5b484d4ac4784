"""Replace a deep copy of an object that is used for further computation: the copy shares the
tensors, and so their history, and has its own lists.
"""

from __future__ import annotations

import ast
from collections.abc import Iterator, Sequence

from analyzers.explain.pattern import Proposal
from analyzers.explain.source_locations import SourceLocation, names_held, resolve_location
from analyzers.repair.blocks import joined
from analyzers.repair.sites.module_names import replace_of, with_imports
from analyzers.source.calls import calls_of
from analyzers.source.edits import Edit
from analyzers.source.flow import bindings
from analyzers.source.project import Project, spelled
from analyzers.source.targets import assigned_pairs
from analyzers.source.trees import nodes_of, position, walk
from provenance import CodeLine, Referrer

_CONTAINERS = ("list", "dict", "set")
_NESTED = (ast.List, ast.Dict, ast.Set, ast.ListComp, ast.DictComp)
_CHANGING = frozenset(
    {"append", "appendleft", "extend", "insert", "pop", "remove", "update", "add", "setdefault"}
    | {"clear", "sort", "add_", "mul_", "copy_", "zero_"}
)


def shared_copy(
    holders: Sequence[Referrer], at: CodeLine | None, project: Project
) -> Iterator[Proposal]:
    """Yield proposals that use `copy.copy` instead of `copy.deepcopy`, or a dataclass's `replace`,
    with copies of the object's containers. The object must be of a class of the script and have its
    methods called.
    """
    where = resolve_location(project, at)
    for call in calls_of(where.statement, "copy.deepcopy") if where is not None else ():
        held = spelled(call.args[0]) if call.args else ""
        parts = {
            n.removeprefix(f"{held}.") for n in names_held(holders) if n.startswith(f"{held}.")
        }
        kinds = [kind for _, kind in project.each(ast.ClassDef) if parts and parts <= _fields(kind)]
        if where is None or len(kinds) != 1 or not held.isidentifier() or not _goes_on(where):
            continue
        added = {spelled(n.target) for n in nodes_of(kinds[0], ast.AugAssign)}
        if added & {f"self.{name}" for name in parts}:
            continue  # it writes into the tensor itself
        if _changed(kinds[0]) - {name for name, _ in _containers(kinds[0])}:
            continue  # other parts changed in place would be shared by both objects
        edits = _as_dataclass(where, call, held, kinds[0]) or _plainly(where, call, held, kinds[0])
        if edits:
            title = f"Copy `{held}` with the tensors that it has"
            note = "The copy goes on from their history."
            yield Proposal("shared-copy", title, joined(edits), note)
            return


def _fields(kind: ast.ClassDef) -> set[str]:
    """Return the attributes that objects of a class get."""
    own = {spelled(s.target) for s in kind.body if isinstance(s, ast.AnnAssign)}
    stores = (n for n in nodes_of(kind, ast.Attribute) if isinstance(n.ctx, ast.Store))
    return own | {node.attr for node in stores if spelled(node.value) == "self"}


def _changed(kind: ast.ClassDef) -> set[str]:
    """Return the attributes that methods of a class change in place, or that hold what may be
    changed so.
    """
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
    """Yield the attributes that the source initialises as lists, dictionaries or sets, with the
    kind.
    """
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
                        continue  # its copy shares the entries
                    made = type(value).__name__.lower().removesuffix("comp")
                    made = spelled(value.func) if isinstance(value, ast.Call) else made
                    if spelled(target).startswith("self.") and made in _CONTAINERS:
                        yield spelled(target).removeprefix("self."), made


def _as_dataclass(
    where: SourceLocation, call: ast.Call, held: str, kind: ast.ClassDef
) -> list[Edit]:
    """Return edits for `replace(held, tacks=list(held.tacks))`."""
    named = replace_of(where.module)
    if named is None or not any("dataclass" in spelled(_called(d)) for d in kind.decorator_list):
        return []
    given = "".join(f", {name}={made}({held}.{name})" for name, made in _containers(kind))
    edit = where.editor.replace(call, f"{named}({held}{given})")
    return [edit, *with_imports(where.module, frozenset({"replace"}))]


def _plainly(where: SourceLocation, call: ast.Call, held: str, kind: ast.ClassDef) -> list[Edit]:
    """Return edits for `copy.copy(held)`, and a statement after it for each container."""
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
    """Return True if a method of the copy is called after it."""
    names = set(bindings(where.statement))
    called = (node.func for node in nodes_of(where.scope, ast.Call))
    return any(
        isinstance(func, ast.Attribute)
        and spelled(func.value) in names
        and position(func) > position(where.statement)
        for func in called
    )
