"""Cut within an iteration: where the value is stored, or read again."""

from __future__ import annotations

import ast
from collections.abc import Iterator
from dataclasses import replace
from itertools import chain

from analyzers.explain.listed import said
from analyzers.explain.pattern import Proposal
from analyzers.explain.reuse.collected import collected
from analyzers.explain.reuse.escapes import handed_for_good
from analyzers.explain.source_locations import SourceLocation, hops_at, resolve_location
from analyzers.repair.blocks import indentation, joined
from analyzers.repair.cut.cutting import Cutting, cut, kind_carried
from analyzers.repair.cut.detaching import may_be_none
from analyzers.repair.sites.scopes import is_seen
from analyzers.repair.sites.statement_facts import read_in, spellings, stores, under_own_name
from analyzers.source.edits import Edit, Editor
from provenance import Binding

TRIED = 2  # stores that are each cut alone
ALONE = 4  # expressions that read an old value, each cut alone


def where_stored(cutting: Cutting, rank: int) -> Iterator[Proposal]:
    """Yield proposals that cut a value as it is stored: `self.h = h.detach()`,
    `xs.append(h.detach())`. Of several stores on the way, one that all old values passed suffices,
    the last one first.
    """
    found: dict[ast.stmt, list[tuple[Binding, list[Edit]]]] = {}
    live: list[tuple[Binding, list[Edit]]] = []
    for binding, where in hops_at(cutting.project, cutting.reuse.path, "bound"):
        module, statement = where.module, where.statement
        for value, kind, whole in stores(statement, binding):
            if whole and (edits := _kept_live(cutting, where, binding)):
                live.append((binding, edits))
            made = cutting.replaced(module, value, kind, binding.name) if whole else []
            if not whole:
                name = Editor(module).text_of(value)
                lines = cutting.writing(module).statements(name, kind)
                if lines and may_be_none(where.scope, name):
                    step = indentation(module)
                    lines = [f"if {name} is not None:", *(step + line for line in lines)]
                made = [Editor(module).insert_after(statement, *lines)] if lines else []
            if made:
                found.setdefault(statement, []).append((binding, made))
    goes_on = bool(live and cutting.covering([binding for binding, _ in live]))
    if goes_on:
        title = (
            f"Store {said(binding.name for binding, _ in live)} detached, and go on with the value"
        )
        edits = [edit for _, made in live for edit in made]
        yield cut("detach-when-stored", title, joined(edits), rank)
    rank += goes_on  # what is read again would learn nothing in its own iteration
    wanted = {edge for binding in cutting.reuse.path for edge in binding.carries}
    several = list(found.values()) if len(found) > 1 else []
    single = [
        s for s in several if wanted <= {edge for binding, _ in s for edge in binding.carries}
    ]
    for store in single[: -TRIED - 1 : -1]:
        yield _stored(store, rank)
    if found:
        yield _stored(list(chain(*found.values())), rank + bool(single))


def _kept_live(cutting: Cutting, where: SourceLocation, binding: Binding) -> list[Edit]:
    """Return edits that store an attribute without its graph, while the rest of the function, which
    reads it, still learns through its value.
    """
    store, writing = where.statement, cutting.writing(where.module)
    if not isinstance(store, ast.Assign) or not isinstance(store.targets[0], ast.Attribute):
        return []
    return under_own_name(
        where.module, store, lambda name: writing.expression(name, kind_carried(binding))
    )


def _stored(parts: list[tuple[Binding, list[Edit]]], rank: int) -> Proposal:
    title = f"Detach what {said(binding.name for binding, _ in parts)} stores"
    edits = [edit for _, made in parts for edit in made]
    return cut("detach-when-stored", title, joined(edits), rank)


def where_collected(cutting: Cutting, rank: int) -> Iterator[Proposal]:
    """Yield proposals that cut what a list collects, if the old value was assembled from it."""
    found: dict[str, list[Edit]] = {}
    for name, module, value in collected(cutting.reuse, cutting.project):
        found.setdefault(name, []).append(Editor(module).append_to(value, ".detach()"))
    for name, edits in [*found.items()][:ALONE]:
        yield cut("detach-when-stored", f"Detach what {said([name])} collects", joined(edits), rank)


def where_handed(cutting: Cutting, rank: int) -> Iterator[Proposal]:
    """Yield a proposal that cuts an escaping argument in the call: `buffer.add(x, y,
    logits.detach())`.
    """
    given = list(handed_for_good(cutting.reuse, cutting.project))
    edits = [
        e for m, node, binding in given for e in cutting.replaced(m, node, kind_carried(binding))
    ]
    if edits:
        title = f"Detach {said(binding.name for _, _, binding in given)} where it is handed over"
        yield cut("detach-when-handed-over", title, joined(edits), rank)


def where_read(cutting: Cutting, rank: int) -> Iterator[Proposal]:
    """Yield proposals that cut the expressions which read the old values: all of them; or one
    alone, if a loss that should only read another loss's part has backpropagated through it too.
    """
    found: list[tuple[str, list[Edit]]] = []
    for at in dict.fromkeys(j.new.at for j in cutting.reuse.stale_edges if j.new and j.new.at):
        where = resolve_location(cutting.project, at)
        if where is None:
            continue
        known = {
            path: kind
            for binding in cutting.reuse.path
            if is_seen(binding, at, where.scope) and binding.how != "returned"
            for path, kind in spellings(binding)
        }
        for node, kind in read_in(where.statement, known):
            if made := cutting.replaced(where.module, node, kind):
                found.append((Editor(where.module).text_of(node), made))
    if found:
        edits = [edit for _, made in found for edit in made]
        yield cut("detach-where-read", "Detach what is read again", joined(edits), rank)
    for text, made in found[:ALONE] if len(found) > 1 else ():
        title = f"Detach `{text}` alone where it is read again"
        found_alone = cut("detach-one-read", title, joined(made), rank + 1)
        yield replace(found_alone, last_resort=True)  # it may cost the other readers their gradient
