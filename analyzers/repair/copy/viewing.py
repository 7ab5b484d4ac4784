"""Fixes for views that are written in place: new tensors, stacked rows, clones."""

from __future__ import annotations

import ast
from collections.abc import Iterator, Sequence

from analyzers.explain.pattern import Proposal
from analyzers.explain.spots import Spot
from analyzers.repair.blocks import alias, joined, unwrapped
from analyzers.repair.copy.outofplace import cloned_first, out_of_place
from analyzers.repair.rewrite import unused_name
from analyzers.source.edits import Edit, Editor
from analyzers.source.flow import bindings, called_name, statements_of, value_of, walk_scope
from analyzers.source.partings import parting
from analyzers.source.project import FUNCTIONS, Loop, Project, spelled
from analyzers.source.targets import target_names
from analyzers.source.trees import position
from analyzers.source.writes import writes


def siblings(where: Spot, names: Sequence[str]) -> set[str]:
    """The names, and those that one statement binds together with them (`a, b = x.chunk(2)`)."""
    found = set(names)
    for node in walk_scope(where.scope):
        if isinstance(node, ast.Assign):
            bound = {name for target in node.targets for name in target_names(target)}
            if bound & set(names):
                found |= bound
    return found


def views_out_of_place(where: Spot, names: Sequence[str], rank: int = 0) -> Iterator[Proposal]:
    """Every write to the view and its siblings behind this line, out of place. Not for the rows
    that a loop goes over: what it was taken from would keep its old values."""
    wanted = siblings(where, names) or {w.name for w in writes(where.statement)}
    if _is_row(where, wanted):
        return
    edits: list[Edit] = []
    changed: list[str] = []
    for node in walk_scope(where.scope):
        if isinstance(node, ast.stmt) and position(node) >= position(where.statement):
            made = out_of_place(where.module, node, wanted.__contains__)
            edits += made
            changed += [w.name for w in writes(node) if made and w.name in wanted]
    if edits:
        told = " and ".join(f"`{name}`" for name in dict.fromkeys(changed))
        title = f"Give {told} a new tensor instead of writing through the view"
        yield Proposal("out-of-place", title, joined(edits), "", rank)


def _is_row(where: Spot, names: set[str]) -> bool:
    loops = where.module.loops_around(where.statement)
    return any(names & set(_row_names(loop)) for loop in loops)


def rows_stacked(where: Spot, names: Sequence[str], rank: int = 0) -> Iterator[Proposal]:
    """Where a loop goes over the rows that it changes: collect the new rows and stack them."""
    wanted = set(names) or {w.name for w in writes(where.statement)}
    loops = where.module.loops_around(where.statement)
    loop = next((x for x in loops if wanted & set(_row_names(x))), None)
    if loop is None or not isinstance(loop, ast.For):
        return
    row = next(name for name in _row_names(loop) if name in wanted)
    edits = [
        edit
        for node in statements_of(loop)
        for edit in out_of_place(where.module, node, {row}.__contains__)
    ]
    rebuilt = _rebuilt(where, loops[loops.index(loop) :], row)
    if edits and rebuilt:
        title = f"Collect the new `{row}` in a list and stack it"
        yield Proposal("stack-rows", title, joined([*rebuilt, *edits]), "", rank)


def _row_names(loop: Loop) -> list[str]:
    return list(target_names(loop.target)) if isinstance(loop, ast.For) else []


def _rebuilt(where: Spot, loops: Sequence[Loop], row: str) -> list[Edit]:
    """Edits by which what the loop goes over gets its new rows: a tensor by a stack, a tuple of
    names by unpacking, the variable of an outer loop by doing the same to that."""
    loop = loops[0]
    source = _source(loop, row) if isinstance(loop, ast.For) else None
    taken = parting(source) if source is not None else None
    source = taken.whole if taken is not None else source
    if source is None or not (isinstance(source, ast.Name | ast.Attribute) or _names(source)):
        return []
    editor = where.editor
    collected = unused_name(where.module, f"new_{row}s")
    begun = editor.insert_before(loop, f"{collected} = []")
    kept = editor.insert_after(loop.body[-1], f"{collected}.append({row})")
    if isinstance(source, ast.Tuple | ast.List):
        behind = editor.insert_after(loop, f"{editor.text_of(source)} = {collected}".strip("()"))
        if isinstance(source, ast.Tuple):
            names = ", ".join(editor.text_of(element) for element in source.elts)
            behind = editor.insert_after(loop, f"{names} = {collected}")
        return [kept, begun, behind]
    name = spelled(source)
    torch = alias(where.module, "torch")
    joint = taken.joint if taken is not None else "stack"
    along = f", dim={editor.text_of(taken.dim)}" if taken is not None and taken.dim else ""
    behind = editor.insert_after(loop, f"{name} = {torch}.{joint}({collected}{along})")
    outer = next((x for x in loops[1:] if name in _row_names(x)), None)
    if outer is None:
        return [kept, begun, behind]
    rest = _rebuilt(where, loops[loops.index(outer) :], name)
    return [kept, begun, behind, *rest] if rest else []


def _source(loop: ast.For, row: str) -> ast.expr | None:
    """What the loop takes the variable from."""
    target, source = loop.target, loop.iter
    if isinstance(target, ast.Tuple) and isinstance(source, ast.Call):
        names = [spelled(element) for element in target.elts]
        if row not in names:
            return None
        at = names.index(row)
        if called_name(source) == "enumerate":
            at -= 1
        if called_name(source) not in ("zip", "enumerate") or not 0 <= at < len(source.args):
            return None
        source = source.args[at]
    return source


def _names(source: ast.expr) -> bool:
    """Whether it is a written list of names."""
    return isinstance(source, ast.Tuple | ast.List) and all(
        isinstance(element, ast.Name | ast.Attribute) for element in source.elts
    )


def record_view(
    where: Spot, names: Sequence[str], project: Project, rank: int = 0
) -> Iterator[Proposal]:
    """A view made under `no_grad`, in this function or in one it calls, made while recording."""
    for node in statements_of(where.scope):
        if not set(bindings(node)) & set(names):
            continue
        value = value_of(node)
        called = called_name(value) if isinstance(value, ast.Call) else ""
        for module, block in project.each(ast.With):
            if "no_grad" not in spelled(block.items[0]):
                continue
            scope = module.scope_of(block)
            helper = isinstance(scope, FUNCTIONS[:2]) and scope.name == called
            inside = module.holds(block, node)
            edits = unwrapped(Editor(module), block) if inside or helper else None
            if edits:
                title = "Make the view while autograd records"
                yield Proposal("record-view", title, edits, "", rank)


def clone_views(where: Spot, names: Sequence[str], rank: int = 2) -> Iterator[Proposal]:
    """A copy of the view under its name, in front of the write."""
    wanted = set(names) or {w.name for w in writes(where.statement)}
    if _is_row(where, wanted):
        return
    yield from cloned_first(where, wanted, rank)
