"""Fix in-place writes to views: new tensors, stacked rows, clones."""

from __future__ import annotations

import ast
from collections.abc import Iterator, Sequence

from analyzers.explain.pattern import Proposal
from analyzers.explain.source_locations import SourceLocation
from analyzers.repair.blocks import alias, joined, unwrapped
from analyzers.repair.copy.outofplace import cloned_first, given_new, out_of_place
from analyzers.repair.rewrite import unused_name
from analyzers.source.callees import own_name, plain_name
from analyzers.source.edits import Edit, Editor
from analyzers.source.flow import bindings, statements_of, value_of
from analyzers.source.project import Loop, Project, spelled
from analyzers.source.targets import assigned, target_names
from analyzers.source.trees import position
from analyzers.source.unpacking import unpacking
from analyzers.source.writes import writes


def siblings(where: SourceLocation, names: set[str]) -> set[str]:
    """Return the names, and those that a statement binds together with them
    (`a, b = x.chunk(2)`).
    """
    together = [set(assigned(s)) for s in statements_of(where.scope) if isinstance(s, ast.Assign)]
    return names.union(*(bound for bound in together if bound & names))


def views_out_of_place(where: SourceLocation, names: Sequence[str]) -> Iterator[Proposal]:
    """Yield a proposal that makes every write to the view and its siblings from this line on out of
    place. Not for rows that a loop iterates over: the tensor that contains them would keep its old
    values.
    """
    wanted = siblings(where, _viewed(where, names))
    if not _loop_over(where, wanted):
        begun = position(where.statement)
        later = [s for s in statements_of(where.scope) if position(s) >= begun]
        written = [(SourceLocation(where.module, s, where.place), wanted) for s in later]
        yield from given_new(written, "through the view", 0)


def _viewed(where: SourceLocation, names: Sequence[str]) -> set[str]:
    """Return the names of the view; if the evidence has none, what the statement writes to."""
    return set(names) or {w.name for w in writes(where.statement)}


def _loop_over(where: SourceLocation, names: set[str]) -> ast.For | None:
    """Return the innermost loop around a statement that iterates over rows of
    one of these names.
    """
    loops = where.module.loops_around(where.statement)
    found = (x for x in loops if isinstance(x, ast.For) and names & set(_row_names(x)))
    return next(found, None)


def rows_stacked(where: SourceLocation, names: Sequence[str]) -> Iterator[Proposal]:
    """Yield a proposal that collects the new rows of a loop over rows and stacks them."""
    wanted, loops = _viewed(where, names), where.module.loops_around(where.statement)
    if (loop := _loop_over(where, wanted)) is None:
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
        yield Proposal("stack-rows", title, joined([*rebuilt, *edits]))


def _row_names(loop: Loop) -> list[str]:
    return list(target_names(loop.target)) if isinstance(loop, ast.For) else []


def _rebuilt(where: SourceLocation, loops: Sequence[Loop], row: str) -> list[Edit]:
    """Return edits that rebuild what the loop iterates over from the new rows: a tensor by a stack,
    a tuple of names by unpacking, the variable of an outer loop by doing the same there.
    """
    loop = loops[0]
    source = _source(loop, row) if isinstance(loop, ast.For) else None
    taken = unpacking(source) if source is not None else None
    source = taken.whole if taken is not None else source
    editor = where.editor
    collected = unused_name(where.module, f"new_{row}s")
    begun = editor.insert_before(loop, f"{collected} = []")
    kept = editor.insert_after(loop.body[-1], f"{collected}.append({row})")
    if isinstance(source, ast.Tuple | ast.List):
        if not all(isinstance(element, ast.Name | ast.Attribute) for element in source.elts):
            return []
        names = ", ".join(map(editor.text_of, source.elts))
        return [kept, begun, editor.insert_after(loop, f"{names} = {collected}")]
    if not isinstance(source, ast.Name | ast.Attribute | ast.Subscript):
        return []
    name = spelled(source)
    torch, joint, along = alias(where.module, "torch"), "stack", ""
    if taken is not None:
        joint, along = taken.joint, f", dim={editor.text_of(taken.dim)}" if taken.dim else ""
    stacked = editor.insert_after(loop, f"{name} = {torch}.{joint}({collected}{along})")
    outer = next((x for x in loops[1:] if name in _row_names(x)), None)
    if outer is None:
        return [kept, begun, stacked]
    rest = _rebuilt(where, loops[loops.index(outer) :], name)
    return [kept, begun, stacked, *rest] if rest else []


def _source(loop: ast.For, row: str) -> ast.expr | None:
    """Return what the loop takes the variable from."""
    match loop.target, loop.iter:
        case ast.Tuple(elts=parts), ast.Call(args=given) as call:
            sources = {"zip": given, "enumerate": [ast.Constant(0), *given]}
            pairs = zip(parts, sources.get(plain_name(call), []), strict=False)
            return next((source for part, source in pairs if spelled(part) == row), None)
    return loop.iter


def record_view(
    where: SourceLocation, names: Sequence[str], project: Project
) -> Iterator[Proposal]:
    """Yield a proposal that creates, with recording on, a view that was created under `no_grad`, in
    this function or in one that it calls.
    """
    for node in statements_of(where.scope):
        if not set(bindings(node)) & set(names):
            continue
        value = value_of(node)
        called = own_name(value) if isinstance(value, ast.Call) else ""
        for module, block in project.each(ast.With):
            helper = called and getattr(module.scope_of(block), "name", "") == called
            if "no_grad" in spelled(block.items[0]) and (helper or module.holds(block, node)):
                if edits := unwrapped(Editor(module), block):
                    title = "Make the view while autograd records"
                    yield Proposal("record-view", title, edits)


def clone_views(where: SourceLocation, names: Sequence[str]) -> Iterator[Proposal]:
    """Yield a proposal that copies the view under its name before the write."""
    wanted = _viewed(where, names)
    if not _loop_over(where, wanted):
        yield from cloned_first(where, wanted, 2)
