"""Find where a name receives what it retains, and let it retain values only."""

from __future__ import annotations

import ast
import re
from collections.abc import Callable, Iterator, Sequence, Set

from analyzers.evidence import SilentFault
from analyzers.explain.pattern import Proposal
from analyzers.explain.reuse.escapes import arguments_kept
from analyzers.explain.reuse.execution_counts import binds_nothing
from analyzers.explain.reuse.passing import arguments
from analyzers.explain.source_locations import (
    SourceLocation,
    names_held,
    reaching,
    resolve_location,
    root_of,
)
from analyzers.repair.blocks import joined, wrapped
from analyzers.repair.cut.detaching import expected_shape
from analyzers.repair.cut.rendering import Writing
from analyzers.repair.leaf.leaves import no_grad_header, no_grad_on
from analyzers.source.backward import BACKWARD_CALLS
from analyzers.source.callees import creates_object, in_library
from analyzers.source.calls import calls_to
from analyzers.source.detached import is_made_without
from analyzers.source.edits import Edit, Editor
from analyzers.source.flow import (
    bindings,
    definitions,
    is_plainly_number,
    mentions,
    names_read_by,
    put_in,
    statements_of,
    stored_into,
    value_of,
    walk_scope,
)
from analyzers.source.project import FUNCTIONS, Module, Project, spelled
from provenance import CodeLine, Referrer, ValueShape

_WRITTEN_OUT = (ast.Tuple, ast.List, ast.Dict)
_WORD = re.compile(r"\[['\"]([^'\"\]]+)['\"]\]")
_ENTRY = re.compile(r"\[[^\]]*\]")


def stores_of(fault: SilentFault, project: Project) -> list[SourceLocation]:
    """Return the statements that add to what the fault's names retain, in the code that has those
    names. A plain name of another file may hold what was made where the fault was seen.
    """
    seen, held = fault.seen_at, names_held(fault.holders)
    names = dict.fromkeys(_ENTRY.sub("", name) for name in held)
    near = [m for m in project.modules.values() if seen is None or seen.file == m.path]
    found = [store for name in names for store in _stores_in(project, fault, name, near)] or [
        store for name in names for store in _stores_in(project, fault, name)
    ]
    if not found:
        found = [store for name in held for store in _in_called(fault, project, root_of(name))]
    keys = {key for path in held for key in _WORD.findall(path)}
    return [s for s in found if not (own := _keys(s.statement)) or not keys or keys & {*own}]


def _stores_in(
    project: Project, fault: SilentFault, name: str, near: Sequence[Module] | None = None
) -> Iterator[SourceLocation]:
    """Yield the stores to one name in these modules; in all for an attribute, or without any."""
    everywhere = near is None or "." in name
    for module in project.modules.values() if everywhere else near or ():
        for scope in module.scopes:
            yield from _stores(module, scope, name, _functions(fault, name))


def _in_called(fault: SilentFault, project: Project, name: str) -> Iterator[SourceLocation]:
    """Yield stores in functions that receive the value of a plain name, under their own name for
    it.
    """
    known = _functions(fault, name)
    for module in project.modules.values() if "." not in name else ():
        for scope in module.scopes:
            if known and getattr(scope, "name", "<module>") not in known:
                continue
            for call in (n for n in walk_scope(scope) if isinstance(n, ast.Call)):
                for home, function in project.functions_called(call):
                    for parameter, given in arguments(call, home, function):
                        if spelled(given) == name:
                            yield from _stores(home, function, parameter, {function.name})


def _keys(statement: ast.stmt) -> list[str]:
    """Return the string keys under which a statement stores something: `val` for
    `seen["val"].append(x)`.
    """
    return [key for name in bindings(statement) for key in _WORD.findall(name)]


def _functions(fault: SilentFault, name: str) -> set[str]:
    """Return the functions that know a plain name: where the fault was seen, and where the name
    was.
    """
    found = {fault.seen_at.function} if fault.seen_at is not None else set()
    found |= {held.scope for held in fault.holders if _ENTRY.sub("", held.path) == name}
    return {function.rpartition(".")[2] for function in found}


def _stores(module: Module, scope: ast.AST, name: str, known: Set[str]) -> Iterator[SourceLocation]:
    """Yield stores in one scope: to a plain name in functions that see it, to an attribute
    anywhere."""
    last = name.rpartition(".")[2]
    function = getattr(scope, "name", "<module>")
    if "." not in name and known and function not in known:
        return
    for node in statements_of(scope):
        value = put_in(node)
        if not _adds(node) or (value is not None and is_plainly_number(value, scope)):
            continue
        for bound in bindings(node):
            root = bound.partition("[")[0]
            if root == name or ("." in name and "." in root and root.endswith(f".{last}")):
                yield SourceLocation(module, node, CodeLine(module.path, node.lineno, function))
                break


def _adds(statement: ast.stmt) -> bool:
    """Return True if a statement adds to what was retained, and does not create the container."""
    if isinstance(statement, ast.AugAssign):
        return True
    if isinstance(statement, ast.Expr):
        return stored_into(statement.value) is not None
    value = value_of(statement)
    if isinstance(value, ast.Call) and in_library(value):
        if names_read_by(statement) <= {spelled(value.func), *bindings(statement)}:
            return False  # `kept = torch.cat(kept)`
    if any(isinstance(target, ast.Subscript) for target in getattr(statement, "targets", [])):
        made = isinstance(value, ast.Call) and creates_object(value)
        return not (made or binds_nothing(statement) or (value and is_made_without(value)))
    return value is not None and any(mentions(value, name) for name in bindings(statement))


def store_values(fault: SilentFault, project: Project) -> Iterator[Proposal]:
    """Yield proposals that store numbers if the loss itself is stored; else tensors without a
    graph; then numbers for what is a tensor in only some iterations.
    """
    stores = stores_of(fault, project)
    roots = set(fault.call.root) if fault.call is not None else set()
    name = (names_held(fault.holders) or ["it"])[0]
    ways: dict[str, tuple[str, Callable[[SourceLocation], Iterator[Edit]]]] = {
        "store-item": ("Keep numbers in `{}`", lambda s: _as_items(s, roots, project)),
        "detach-when-stored": (
            "Keep values without their graph in `{}`",
            lambda s: _detached(s, fault.holders, project),
        ),
        "store-number": ("Keep plain numbers in `{}`", lambda s: _as_numbers(s, project)),
    }
    for rank, (strategy, (title, way)) in enumerate(ways.items()):
        if edits := [edit for store in stores for edit in way(store)]:
            yield Proposal(strategy, title.format(name), joined(edits), "", rank)


def _as_numbers(store: SourceLocation, project: Project) -> Iterator[Edit]:
    for value in _parts_added(store, project):
        yield store.editor.replace(value, f"float({store.editor.text_of(value)})")


def _as_items(store: SourceLocation, roots: set[str], project: Project) -> Iterator[Edit]:
    """Yield edits that turn root tensors into numbers, once: where they are passed to the storing
    function, else where it stores them.
    """
    function = store.scope if isinstance(store.scope, FUNCTIONS[:2]) else None
    handed = [
        Editor(module).append_to(value, ".item()")
        for module, call in (calls_to(project, function.name) if function is not None else ())
        for value in (*call.args, *(keyword.value for keyword in call.keywords))
        if spelled(value) in roots
    ]
    stored = [value for value in _parts_added(store, project) if spelled(value) in roots]
    yield from handed or [store.editor.append_to(value, ".item()") for value in stored]


def _detached(
    store: SourceLocation, holders: Sequence[Referrer], project: Project
) -> Iterator[Edit]:
    """Yield edits that cut what a store adds, be it a tensor or a structure of tensors."""
    kind = ValueShape("tensor", graph=True)
    for name in {bound.partition("[")[0] for bound in bindings(store.statement)}:
        for holder in holders:
            if holder.path.startswith(f"{name}["):
                kind = expected_shape(name, holder)
                for _ in range(_depth(store.statement)):
                    kind = kind.parts[0].kind if kind.parts else kind
    for value in _added(store, project):
        if isinstance(value, _WRITTEN_OUT):
            for part in _parts(value, store):
                yield store.editor.append_to(part, ".detach()")
        elif kind.kind == "tensor":
            yield store.editor.append_to(_kept_elsewhere(store, value) or value, ".detach()")
        elif (text := Writing().expression(store.editor.text_of(value), kind)) is not None:
            yield store.editor.replace(value, text)


def _kept_elsewhere(store: SourceLocation, value: ast.expr) -> ast.expr | None:
    """Return where a stored name is bound to a call, once, if another name keeps its value, too."""
    if not isinstance(value, ast.Name):
        return None
    made = definitions(store.scope, value.id)
    others = (s for s in statements_of(store.scope) if isinstance(s, ast.Assign))
    if len(made) != 1 or not any(spelled(s.value) == value.id for s in others):
        return None
    call = value_of(made[0])
    return call if isinstance(call, ast.Call) else None


def _depth(statement: ast.stmt) -> int:
    """Return at which depth of the container a statement stores something: 2 for
    `curves[name][epoch] = x`.
    """
    call = statement.value if isinstance(statement, ast.Expr) else None
    targets = getattr(statement, "targets", [getattr(statement, "target", None)])
    into = call.func if isinstance(call, ast.Call) else targets[0]
    depth = 0
    while isinstance(into, ast.Subscript | ast.Attribute):
        depth += isinstance(into, ast.Subscript) or into is getattr(call, "func", None)
        into = into.value
    return depth


def _added(store: SourceLocation, project: Project) -> list[ast.expr]:
    """Return what a store adds: for a call, the arguments that a method of the script keeps, else
    the last one. Plain numbers carry no graph.
    """
    call = getattr(store.statement, "value", None)
    if not isinstance(store.statement, ast.Expr) or not isinstance(call, ast.Call):
        return [value for value in [value_of(store.statement)] if value is not None]
    kept = arguments_kept(project, call) or call.args[-1:]
    return [value for value in kept if not is_plainly_number(value, store.scope)]


def _parts_added(store: SourceLocation, project: Project) -> list[ast.expr]:
    """Return the same, with the entries of a literal tuple, list or dictionary."""
    return [part for value in _added(store, project) for part in _parts(value, store)]


def _parts(value: ast.expr, store: SourceLocation) -> Iterator[ast.expr]:
    match value:
        case ast.Tuple(elts=parts) | ast.List(elts=parts) | ast.Dict(values=parts):
            for part in parts:
                yield from _parts(part, store)
        case _ if not is_plainly_number(value, store.scope):
            yield value


def evaluated_without_graph(fault: SilentFault, project: Project) -> Iterator[Proposal]:
    """Yield proposals that put under `no_grad` the function that calls a model without a backward
    call; if it may call backward at another time, the outermost loop that does not.
    """
    where = resolve_location(project, fault.at)
    if fault.call is not None or where is None:
        return
    edit, rank = None, -1
    loops = where.module.loops_around(where.statement)
    loops = [loop for loop in loops if not reaching(project, loop, *BACKWARD_CALLS)]
    function = where.scope
    if isinstance(function, ast.FunctionDef) and not reaching(project, function, *BACKWARD_CALLS):
        title, edit = f"Run `{function.name}`", no_grad_on(where.module, function)
    elif loops:
        title, rank = "Run the loop", 1  # all of its lines change
        edit = wrapped(where.editor, loops[-1:], no_grad_header(where.module))
    if edit is not None:
        yield Proposal("no-grad-evaluation", f"{title} without graphs", (edit,), "", rank)
