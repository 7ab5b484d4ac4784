"""Indexed writes over time as a list that is stacked: `out[:, t] = h` → `out.append(h)`."""

from __future__ import annotations

import ast
from collections.abc import Iterator
from dataclasses import dataclass, field

from analyzers.explain.inplace import Stale
from analyzers.explain.pattern import Proposal
from analyzers.explain.spots import Spot
from analyzers.repair.blocks import alias, joined
from analyzers.repair.rewrite import unused_name
from analyzers.source.edits import Edit, Editor
from analyzers.source.flow import definitions, value_of, walk_scope
from analyzers.source.project import Loop, Scope, spelled
from analyzers.source.trees import end_of, position, walk


@dataclass
class Buffer:
    """A tensor that a loop fills along one dimension, one entry a pass."""

    name: str
    dim: int
    first: int  # the entry that the first pass writes
    writes: list[tuple[ast.Assign, ast.Subscript]] = field(default_factory=list)


def list_and_stack(stale: Stale, rank: int = 0) -> Iterator[Proposal]:
    """The buffers of the loop as lists, joined behind it."""
    for where in stale.statements[:1]:
        loops = where.module.loops_around(where.statement)
        if not loops:
            return
        buffers = _buffers(loops[0])
        edits = [edit for buffer in buffers for edit in _converted(where, loops[0], buffer)]
        if edits and all(_regular(loops[0], buffer) for buffer in buffers):
            names = " and ".join(f"`{buffer.name}`" for buffer in buffers)
            title = f"Collect {names} in a list and stack it behind the loop"
            yield Proposal("list-and-stack", title, joined(edits), "", rank)


def _buffers(loop: Loop) -> list[Buffer]:
    """What the loop's own statements fill, by name."""
    counter = _counter(loop)
    found: dict[str, Buffer] = {}
    if counter is None:
        return []
    variable, start = counter
    for statement in loop.body:
        for target in _written_parts(statement):
            place = _position(target)
            offset = _offset(place[1], variable) if place is not None else None
            if place is None or offset is None or start + offset < 0:
                continue
            name = spelled(target.value)
            buffer = found.setdefault(name, Buffer(name, place[0], start + offset))
            assert isinstance(statement, ast.Assign)
            buffer.writes.append((statement, target))
    return list(found.values())


def _counter(loop: Loop) -> tuple[str, int] | None:
    """The loop's counting variable and its first value."""
    if not isinstance(loop, ast.For) or not isinstance(loop.iter, ast.Call):
        return None
    target, name, arguments = loop.target, spelled(loop.iter.func), loop.iter.args
    if name == "enumerate" and isinstance(target, ast.Tuple) and len(arguments) == 1:
        first = target.elts[0]
        return (first.id, 0) if isinstance(first, ast.Name) else None
    if name != "range" or not isinstance(target, ast.Name) or len(arguments) > 2:
        return None
    if len(arguments) == 1:
        return target.id, 0
    start = arguments[0]
    if isinstance(start, ast.Constant) and isinstance(start.value, int):
        return target.id, start.value
    return None


def _written_parts(statement: ast.stmt) -> Iterator[ast.Subscript]:
    """The indexed targets of an assignment, those of a tuple too."""
    if not isinstance(statement, ast.Assign) or len(statement.targets) != 1:
        return
    target = statement.targets[0]
    parts = target.elts if isinstance(target, ast.Tuple) else [target]
    for part in parts:
        if isinstance(part, ast.Subscript) and isinstance(part.value, ast.Name | ast.Attribute):
            yield part


def _position(target: ast.Subscript) -> tuple[int, ast.expr] | None:
    """The one dimension that is indexed, and by what; None where other parts are not whole."""
    parts = target.slice.elts if isinstance(target.slice, ast.Tuple) else [target.slice]
    indexed = [i for i, part in enumerate(parts) if not _is_whole(part)]
    if len(indexed) != 1 or isinstance(parts[indexed[0]], ast.Slice):
        return None
    at = indexed[0]
    before = [p for p in parts[:at] if _is_ellipsis(p)]
    return (at - len(parts) if before else at), parts[at]


def _is_whole(part: ast.expr) -> bool:
    bare = isinstance(part, ast.Slice) and part.lower is part.upper is part.step is None
    return bare or _is_ellipsis(part)


def _is_ellipsis(part: ast.expr) -> bool:
    return isinstance(part, ast.Constant) and part.value is Ellipsis


def _offset(index: ast.expr, variable: str) -> int | None:
    """`c` in `variable + c`."""
    match index:
        case ast.Name(id=name) if name == variable:
            return 0
        case ast.BinOp(ast.Name(id=name), ast.Add(), ast.Constant(int(c))) if name == variable:
            return c
        case ast.BinOp(ast.Name(id=name), ast.Sub(), ast.Constant(int(c))) if name == variable:
            return -c
    return None


def _regular(loop: Loop, buffer: Buffer) -> bool:
    """Whether each pass writes one entry, and everything else in the loop reads single ones."""
    if len(buffer.writes) != 1:
        return False
    return all(
        place is not None and place[0] == buffer.dim and not _is_negative(place[1])
        for part in _mentions(loop, buffer.name)
        if part is not buffer.writes[0][1]
        for place in [_position(part) if isinstance(part, ast.Subscript) else None]
    )


def _is_negative(index: ast.expr) -> bool:
    return isinstance(index, ast.UnaryOp)


def _mentions(node: ast.AST, name: str) -> Iterator[ast.expr]:
    """Where the name stands: the indexed expression, or the bare name."""
    indexed: set[int] = set()
    for inner in walk(node):
        if isinstance(inner, ast.Subscript) and spelled(inner.value) == name:
            indexed.add(id(inner.value))
            yield inner
    for inner in walk(node):
        if isinstance(inner, ast.Name | ast.Attribute) and id(inner) not in indexed:
            if spelled(inner) == name:
                yield inner


def _converted(where: Spot, loop: Loop, buffer: Buffer) -> Iterator[Edit]:
    editor = where.editor
    if len(buffer.writes) != 1:
        return
    yield from _begun(where, loop, buffer)
    statement, target = buffer.writes[0]
    yield from _appended(editor, statement, target, buffer.name)
    for part in _mentions(loop, buffer.name):
        if part is not target and isinstance(part, ast.Subscript):
            place = _position(part)
            if place is not None:
                yield editor.replace(part, f"{buffer.name}[{editor.text_of(place[1])}]")
    if _read_behind(where.scope, loop, buffer.name):
        dim = f", dim={buffer.dim}" if buffer.dim else ""
        torch = alias(editor.module, "torch")
        yield editor.insert_after(loop, f"{buffer.name} = {torch}.stack({buffer.name}{dim})")


def _appended(
    editor: Editor, statement: ast.Assign, target: ast.Subscript, name: str
) -> Iterator[Edit]:
    path = editor.module.path
    if statement.targets[0] is target:
        (start, end), (first, last) = editor.span(statement), editor.span(statement.value)
        yield Edit(path, start, first, f"{name}.append(")
        yield Edit(path, last, end, ")")
        return
    fresh = unused_name(editor.module, f"next_{name.rpartition('.')[2]}")
    yield editor.replace(target, fresh)
    yield editor.insert_after(statement, f"{name}.append({fresh})")


def _read_behind(scope: Scope, loop: Loop, name: str) -> bool:
    return "." in name or any(
        isinstance(node, ast.Name) and node.id == name and position(node) > end_of(loop)
        for node in walk_scope(scope)
    )


def _begun(where: Spot, loop: Loop, buffer: Buffer) -> Iterator[Edit]:
    """The list with the entries that were there before the loop."""
    editor = where.editor
    block = where.module.block_of(loop)
    before = [s for s in definitions(where.scope, buffer.name) if s in block[: block.index(loop)]]
    made = [s for s in before if isinstance(s, ast.Assign) and not list(_written_parts(s))]
    filled = [s for s in before if s not in made]
    value = value_of(made[-1]) if made else None
    if value is not None and len(made) == 1 and len(filled) == buffer.first:
        given = [value_of(s) for s in filled]
        if all(g is not None and not isinstance(g, ast.Constant) for g in given):
            yield editor.replace(value, "[]" if not given else f"[{editor.text_of(given[0])}]")  # type: ignore[arg-type]
            if filled:
                yield editor.delete(filled[0])
            for statement, entry in list(zip(filled, given, strict=True))[1:]:
                assert entry is not None
                text = f"{buffer.name}.append({editor.text_of(entry)})"
                yield editor.replace(statement, text)
            return
    torch = alias(editor.module, "torch")
    entries = f"{torch}.unbind({buffer.name}, {buffer.dim})[:{buffer.first}]"
    yield editor.insert_before(loop, f"{buffer.name} = list({entries})")
