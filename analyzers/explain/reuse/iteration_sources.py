"""Find what a loop takes its variable from: `zip`, `enumerate`, unbound tensors, literal lists."""

from __future__ import annotations

import ast

from analyzers.source.flow import names_read
from analyzers.source.loop_iterations import iterated
from analyzers.source.project import Loop, Scope, spelled
from analyzers.source.targets import entry_sources
from analyzers.source.unpacking import whole_of


def taken_from(loop: Loop, scope: Scope, name: str) -> str | None:
    """Return the collection whose elements a loop binds to `name`, through `zip` and `enumerate`;
    None for anything else.
    """
    through = iterated(loop, scope)
    targets = through.targets if through is not None and not through.counted else ()
    found = (
        _collection(source)
        for target in targets
        if through is not None
        for entry, source in entry_sources(target, through.over)
        if isinstance(entry, ast.Name) and entry.id == name
    )
    return next((source for source in found if source is not None), None)


def _collection(source: ast.expr) -> str | None:
    match source:
        case ast.Call(func=ast.Attribute(value=held, attr="items")):
            source = held
    source = whole_of(source)
    named = isinstance(source, ast.Name | ast.Attribute)
    return common_operand(source) or (spelled(source) if named else None)


def common_operand(source: ast.expr) -> str | None:
    """Return the only name from which all entries of a literal collection come: `x` for `[x, x.T]`;
    None if there is none.
    """
    match source:
        case ast.List(elts=entries) | ast.Tuple(elts=entries) | ast.Dict(values=entries):
            read = [{n for n in names_read(entry) if "." not in n} for entry in entries]
            common = set.intersection(*read) if len(read) > 1 else set()
            return common.pop() if len(common) == 1 else None
    return None
