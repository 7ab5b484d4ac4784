"""Find what one iteration of a loop, or one call of a method, passes to the next; and cut it."""

from __future__ import annotations

import ast
from collections.abc import Iterator, Sequence

from analyzers.explain.source_locations import SourceLocation
from analyzers.repair.cut.detaching import starts_as_none, values_given
from analyzers.source.flow import (
    bindings,
    flowing_into,
    names_bound,
    names_read,
    names_read_by,
    statements_of,
)
from analyzers.source.project import Loop, spelled
from analyzers.source.reads import attributes_loaded
from analyzers.source.targets import target_names
from analyzers.source.trees import walk


def carried_names(loop: Loop, roots: set[str]) -> list[str]:
    """Return names that an iteration reads before it binds them and that the roots derive from.

    A loop binds its own target (`for batch in loader: batch = batch.to(device)`). Sums of plain
    numbers are left out: no gradient flows from them into a root.
    """
    statements = statements_of(loop)
    bound = names_bound(loop)
    flowing = flowing_into(statements, roots)
    own = set(target_names(loop.target)) if isinstance(loop, ast.For | ast.AsyncFor) else set()
    first = [name for name in _read_first(statements) if name not in own]
    return [name for name in first if name in bound and name in flowing]


def _read_first(statements: Sequence[ast.stmt]) -> list[str]:
    """Return the names that are read before a statement binds them, in order."""
    known: set[str] = set()
    found: list[str] = []
    for statement in statements:
        read = sorted(names_read_by(statement))
        found += [n for n in read if n not in known and n not in found]
        known |= set(bindings(statement))
    return found


def carried_attributes(where: SourceLocation) -> Iterator[tuple[str, ast.stmt]]:
    """Yield attributes that the function reads before it binds them, with the first statement that
    reads each.
    """
    statements = statements_of(where.scope)
    bound = names_bound(where.scope)
    for name in _read_first(statements):
        first = next(s for s in statements if name in names_read(s))
        read = attributes_loaded(walk(first), name.rpartition(".")[2])
        if "." in name and name in bound and name in map(spelled, read):
            yield name, first


def cut_lines(scope: ast.AST, name: str, step: str = "    ") -> Iterator[list[str]]:
    """Yield statements that detach the name: as a tensor; as a tuple of tensors. The source alone
    does not show which it is, except for a dictionary. `step` is the script's indentation.
    """
    values = [f"{name}.detach()", f"tuple(t.detach() for t in {name})"]
    if any(isinstance(value, ast.Tuple) for value in values_given(scope, name)):
        values.reverse()
    if any(_is_keyed(node, name) for node in walk(scope)):
        values = [f"{{key: t.detach() for key, t in {name}.items()}}"]
    may_be_none = starts_as_none(scope, name) or starts_as_none(scope, f"self.{name}")
    for value in values:
        line = f"{name} = {value}"
        yield [f"if {name} is not None:", f"{step}{line}"] if may_be_none else [line]


def _is_keyed(node: ast.AST, name: str) -> bool:
    """Return True if a node reads the name by a key, or unpacks it into a dictionary."""
    match node:
        case ast.Subscript(value=held, slice=ast.Constant(value=str())):
            return spelled(held) == name
        case ast.Dict(keys=keys, values=values):
            pairs = zip(keys, values, strict=True)
            return any(key is None and spelled(value) == name for key, value in pairs)
    return False
