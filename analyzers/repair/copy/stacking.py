"""Replace indexed writes over time by a list that is stacked: `out[:, t] = h` → `out.append(h)`."""

from __future__ import annotations

import ast
from collections.abc import Iterator
from dataclasses import dataclass, field

from analyzers.explain.inplace_changes import StaleValue
from analyzers.explain.listed import said
from analyzers.explain.pattern import Proposal
from analyzers.explain.source_locations import SourceLocation
from analyzers.repair.blocks import alias, joined
from analyzers.repair.rewrite import unused_name
from analyzers.source.edits import Edit
from analyzers.source.flow import definitions, is_dotted, value_of
from analyzers.source.project import Loop, Module, Project, spelled
from analyzers.source.reads import reads_after
from analyzers.source.trees import nodes_of


@dataclass
class Buffer:
    """A tensor that a loop fills along one dimension, one entry an iteration."""

    name: str
    dim: int
    first: int  # the entry that the first iteration writes
    writes: list[tuple[ast.Assign, ast.Subscript]] = field(default_factory=list)


def list_and_stack(stale: StaleValue) -> Iterator[Proposal]:
    """Yield a proposal that turns the loop's buffers into lists, joined after it."""
    for where in stale.statements[:1]:
        for loop in where.module.loops_around(where.statement)[:1]:
            yield from _stacked(where.module, loop)


def any_stacked(project: Project) -> Iterator[Proposal]:
    """Yield the same for every loop that fills buffers, if the error names no write."""
    for module, loop in project.each(ast.For):
        yield from _stacked(module, loop)


def _stacked(module: Module, loop: Loop) -> Iterator[Proposal]:
    where = SourceLocation.of(module, loop)
    buffers = list(_buffers(loop).values())
    if buffers and all(_is_regular(where, loop, buffer) for buffer in buffers):
        edits = [edit for buffer in buffers for edit in _converted(where, loop, buffer)]
        names = said(buffer.name for buffer in buffers)
        title = f"Collect {names} in a list and stack it after the loop"
        yield Proposal("list-and-stack", title, joined(edits))


def _buffers(loop: Loop) -> dict[str, Buffer]:
    """Return what the loop's own statements fill, by name."""
    variable, start = _counter(loop)
    found: dict[str, Buffer] = {}
    assigned = [s for s in loop.body if isinstance(s, ast.Assign)]
    for statement, target in ((s, t) for s in assigned for t in _written_parts(s)):
        place = _position(target)
        offset = _offset(place[1], variable) if place is not None else None
        if place is not None and offset is not None and start + offset >= 0:
            name = spelled(target.value)
            buffer = found.setdefault(name, Buffer(name, place[0], start + offset))
            buffer.writes.append((statement, target))
    return found


def _counter(loop: Loop) -> tuple[str, int]:
    """Return the loop's counting variable and its first value; an empty name if it has none."""
    match loop:
        case ast.For(target=ast.Name(id=name), iter=ast.Call(func=ast.Name("range"), args=given)):
            match given:
                case [_]:
                    return name, 0
                case [ast.Constant(value=int(start)), _]:
                    return name, start
        case ast.For(
            target=ast.Tuple(elts=[ast.Name(id=name), *_]),
            iter=ast.Call(func=ast.Name("enumerate"), args=[_]),
        ):
            return name, 0
    return "", 0


def _written_parts(statement: ast.stmt) -> list[ast.Subscript]:
    """Return the indexed targets of an assignment, including those of a tuple."""
    match statement:
        case ast.Assign(targets=[target]):
            parts = target.elts if isinstance(target, ast.Tuple) else [target]
            return [p for p in parts if isinstance(p, ast.Subscript) and is_dotted(p.value)]
    return []


def _position(target: ast.AST) -> tuple[int, ast.expr] | None:
    """Return the only indexed dimension and its index; None if other dimensions are not whole."""
    if not isinstance(target, ast.Subscript):
        return None
    parts = target.slice.elts if isinstance(target.slice, ast.Tuple) else [target.slice]
    indexed = [at for at, part in enumerate(parts) if spelled(part) not in (":", "...")]
    if len(indexed) != 1 or isinstance(parts[indexed[0]], ast.Slice):
        return None
    at = indexed[0]
    return (at - len(parts) if "..." in map(spelled, parts[:at]) else at), parts[at]


def _offset(index: ast.expr, variable: str) -> int | None:
    """Return `c` for `variable + c`; None for other expressions."""
    match index:
        case ast.Name(id=name) if name == variable:
            return 0
        case ast.BinOp(ast.Name(id=name), op, ast.Constant(int(c))) if name == variable:
            return c if isinstance(op, ast.Add) else -c if isinstance(op, ast.Sub) else None
    return None


def _is_regular(where: SourceLocation, loop: Loop, buffer: Buffer) -> bool:
    """Return True if each iteration writes one entry, and everything else in the loop reads single
    ones.
    """
    return len(buffer.writes) == 1 and all(
        (place := _position(part)) is not None
        and place[0] == buffer.dim
        and not isinstance(place[1], ast.UnaryOp)
        for part in _mentions(where, loop, buffer)
    )


def _mentions(where: SourceLocation, loop: Loop, buffer: Buffer) -> Iterator[ast.AST]:
    """Yield other occurrences of the buffer: the indexed expression, or the bare name."""
    for node in nodes_of(loop, ast.Name, ast.Attribute):
        if spelled(node) == buffer.name:
            parent = where.module.parents.get(node)
            part = parent if isinstance(parent, ast.Subscript) and parent.value is node else node
            if part is not buffer.writes[0][1]:
                yield part


def _converted(where: SourceLocation, loop: Loop, buffer: Buffer) -> Iterator[Edit]:
    editor, name = where.editor, buffer.name
    torch = alias(editor.module, "torch")
    yield from _begun(where, loop, buffer)
    statement, target = buffer.writes[0]
    if statement.targets[0] is target:
        (start, end), (first, last) = editor.span(statement), editor.span(statement.value)
        yield Edit(editor.module.path, start, first, f"{name}.append(")
        yield Edit(editor.module.path, last, end, ")")
    else:
        fresh = unused_name(editor.module, f"next_{name.rpartition('.')[2]}")
        yield editor.replace(target, fresh)
        yield editor.insert_after(statement, f"{name}.append({fresh})")
    for part in _mentions(where, loop, buffer):
        if (place := _position(part)) is not None:
            yield editor.replace(part, f"{name}[{editor.text_of(place[1])}]")
    if "." in name or reads_after(where.scope, loop, name):
        dim = f", dim={buffer.dim}" if buffer.dim else ""
        yield editor.insert_after(loop, f"{name} = {torch}.stack({name}{dim})")


def _begun(where: SourceLocation, loop: Loop, buffer: Buffer) -> Iterator[Edit]:
    """Yield edits that start the list with the entries that existed before the loop."""
    editor, name = where.editor, buffer.name
    block = where.module.block_of(loop)
    before = [s for s in definitions(where.scope, name) if s in block[: block.index(loop)]]
    made = [s.value for s in before if isinstance(s, ast.Assign) and not _written_parts(s)]
    filled = [s for s in before if value_of(s) not in made]
    given = [v for s in filled if not isinstance(v := value_of(s), ast.Constant | None)]
    whole = all(_position(part) is not None for s in filled for part in _written_parts(s))
    if len(made) == 1 and len(filled) == len(given) == buffer.first and whole:
        texts = [editor.text_of(value) for value in given]
        yield editor.replace(made[0], f"[{', '.join(texts[:1])}]")
        yield from editor.delete_all(filled[:1])
        for statement, text in zip(filled[1:], texts[1:], strict=True):
            yield editor.replace(statement, f"{name}.append({text})")
    else:
        entries = f"{alias(editor.module, 'torch')}.unbind({name}, {buffer.dim})[:{buffer.first}]"
        yield editor.insert_before(loop, f"{name} = list({entries})")
