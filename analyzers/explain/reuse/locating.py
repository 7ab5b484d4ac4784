"""Locate the line of a reuse to look at first: where the carrier takes on the graph that is old
later.
"""

from __future__ import annotations

import ast
from collections.abc import Iterator

from analyzers.explain.reuse.execution_counts import binds_nothing
from analyzers.explain.reuse.features import ReuseFeatures
from analyzers.explain.source_locations import hops_at
from analyzers.source.detached import is_made_without
from analyzers.source.flow import bindings
from analyzers.source.project import Module, Scope
from provenance import CodeLine

Binder = tuple[Module, Scope, ast.stmt]


def taken_on(story: ReuseFeatures) -> CodeLine | None:
    """Return the binder that made the old graph; else the one that stores the carrier in each
    iteration, preferably in the shared frame; None if nothing binds it.
    """
    binders = [b for b in story.binders if not binds_nothing(b[2])]
    binders = [b for b in binders if not _has_none(b[2])] or binders
    if story.attribute:  # an attribute rather than a local of the same name
        binders = [b for b in binders if any("." in n for n in bindings(b[2]))] or binders
    fresh = [b for b in binders if story.binds_inside(*b)] or binders
    made = [
        place for edge in story.reuse.stale_edges for place in (edge.old.at,) if place is not None
    ]
    for place in made:
        for module, scope, statement in fresh:
            within = statement.lineno <= place.line <= (statement.end_lineno or statement.lineno)
            if within and module.path == place.file and statement in module.block_of(statement):
                return _place(module, scope, statement)
    shared = story.shared.scope if story.shared is not None else None
    here = [binder for binder in fresh if binder[1] is shared]
    stores = [binder for binder in fresh if story.stored and _stores(binder[2])]
    held = [holder.path for edge in story.reuse.stale_edges for holder in edge.holders]
    stores = [
        b for b in stores if any(key in path for key in _keys(b[2]) for path in held)
    ] or stores
    known = story.carriers[0].place if story.carriers else None
    named = [binder for binder in stores if known is not None and binder[2].lineno == known.line]
    chosen = named[:1] or stores[:1] or (here or fresh)[-1:] or list(_put_away(story))[:1]
    return _place(*chosen[0]) if chosen else next(_handed_out(story), None)


def _handed_out(story: ReuseFeatures) -> Iterator[CodeLine]:
    """Yield the line that returns a module's `forward` output, possibly within something else, if
    nothing binds it.
    """
    made = story.edge.old.at if story.edge is not None else None
    if made is not None and made.function.endswith(".forward"):
        for binding in story.reuse.path:
            if binding.how == "returned" and binding.at.function != made.function:
                yield binding.at


def _put_away(story: ReuseFeatures) -> Iterator[Binder]:
    """Yield the statements that a run saw put an object, whose attribute is
    old, into a container.
    """
    field = f".{story.attribute}"
    for binding, where in hops_at(story.project, story.reuse.path, "bound"):
        if story.attribute and any(path.endswith(field) for path in binding.paths):
            if isinstance(where.statement, ast.Expr):
                yield where.module, where.scope, where.statement


def _has_none(statement: ast.stmt) -> bool:
    """Return True if what a statement binds has no graph: `self.h = self.h.detach()`."""
    value = statement.value if isinstance(statement, ast.Assign) else None
    return value is not None and is_made_without(value)


def _place(module: Module, scope: Scope, statement: ast.stmt) -> CodeLine:
    return CodeLine(module.path, statement.lineno, getattr(scope, "name", "<module>"))


def _stores(statement: ast.stmt) -> bool:
    """Return True if a statement puts something into a container."""
    return isinstance(statement, ast.Expr) or any(
        isinstance(target, ast.Subscript) for target in getattr(statement, "targets", [])
    )


def _keys(statement: ast.stmt) -> list[str]:
    """Return how a path spells the keys that a statement stores under: `['slow']`."""
    return [
        f"[{target.slice.value!r}]"
        for target in getattr(statement, "targets", [])
        if isinstance(target, ast.Subscript) and isinstance(target.slice, ast.Constant)
    ]
