"""Detach a value where a loss reads it with its graph, and detached elsewhere."""

from __future__ import annotations

import ast
from collections.abc import Iterator

from analyzers.explain.pattern import Proposal
from analyzers.explain.reuse.features import ReuseFeatures
from analyzers.explain.source_locations import SourceLocation, resolve_location
from analyzers.repair.cut.detaching import TORCH
from analyzers.repair.sites.uses import leading_to
from analyzers.source.callees import in_library
from analyzers.source.detached import VALUES
from analyzers.source.edits import Editor
from analyzers.source.flow import bindings, names_read, own_expressions, value_of
from analyzers.source.project import spelled


def read_attached(story: ReuseFeatures) -> tuple[ast.expr, ...]:
    """Return the arguments by which a carrier that the function does not bind, or what it joins it
    to, goes into the only loss with its graph, if another argument on the way to this loss is the
    same value detached: `penalty(real, fake)` and `D(fake.detach())`.
    """
    first, again = story.reuse.freed.at, story.reuse.reached.at
    where = resolve_location(story.project, again)
    alone = (first.file, first.line) == (again.file, again.line)
    if where is None or not story.name or not alone:
        return ()
    way = leading_to(where.scope, where.statement, "")
    if any(story.name in bindings(statement) for statement in way):
        return ()
    attached: dict[str, list[ast.expr]] = {}
    detached: set[str] = set()
    for node in (node for statement in way for node in own_expressions(statement)):
        for given in node.args if isinstance(node, ast.Call) else ():
            if (read := _detached(given)) is not None:
                detached.add(spelled(read))
            else:
                attached.setdefault(spelled(given), []).append(given)
    both = [name for name in _names(story.name, way) if name in detached and name in attached]
    return tuple(node for name in both for node in attached[name])


def _names(carrier: str, way: list[ast.stmt]) -> Iterator[str]:
    """Yield the carrier's name, and those of what a library's function makes of it."""
    yield carrier
    for statement in way:
        value = value_of(statement)
        if isinstance(value, ast.Call) and in_library(value) and carrier in names_read(value):
            yield from bindings(statement)


def _detached(given: ast.expr) -> ast.expr | None:
    """Return what is detached: `x` of `x.detach()` and of `x.data`."""
    read = given.func if isinstance(given, ast.Call) else given
    return read.value if isinstance(read, ast.Attribute) and read.attr in VALUES else None


def detached_elsewhere(story: ReuseFeatures) -> Iterator[Proposal]:
    """Yield a proposal that detaches what the loss reads with its graph."""
    read = read_attached(story)
    where = resolve_location(story.project, story.reuse.reached.at)
    if read and isinstance(where, SourceLocation):
        editor = Editor(where.module)
        edits = tuple(TORCH.at(editor, node) for node in read)
        title = f"Detach `{spelled(read[0])}` where line {read[0].lineno} reads it"
        note = "That loss no longer sends gradient through it."
        yield Proposal("detach-in-first-loss", title, edits, note, 0)
