"""Cuts within a pass: where the value is stored, or read again."""

from __future__ import annotations

import ast
from collections.abc import Iterator
from dataclasses import dataclass, replace

from analyzers.evidence import Hop
from analyzers.explain.pattern import Proposal
from analyzers.explain.spots import hops_at, spot
from analyzers.repair.blocks import joined
from analyzers.repair.cut.cutting import Cutting, cut, kind_carried
from analyzers.repair.sites.scopes import is_seen, wants_gradient
from analyzers.repair.sites.statements import read_in, spellings, stores
from analyzers.source.calls import calls_to
from analyzers.source.edits import Edit, Editor
from analyzers.source.flow import bindings, part_for
from analyzers.source.project import spelled

TRIED = 2  # stores that are each cut alone
ALONE = 4  # expressions that read an old value, each cut alone


def where_stored(cutting: Cutting, rank: int) -> Iterator[Proposal]:
    """What is stored, cut as it is stored: `self.h = h.detach()`, `xs.append(h.detach())`. Of
    several stores on the way one that all old values went through may do, the last one first."""
    found: dict[ast.stmt, _Store] = {}
    for hop, where in hops_at(cutting.project, cutting.reuse.path, "bound"):
        module, statement = where.module, where.statement
        for value, kind, whole in stores(statement, hop):
            made = cutting.replaced(module, value, kind, hop.name) if whole else []
            if not whole:
                name = Editor(module).text_of(value)
                lines = cutting.writing(module).statements(name, kind)
                made = [Editor(module).insert_after(statement, *lines)] if lines else []
            if made:
                store = found.setdefault(statement, _Store([], set(), []))
                store.names.append(hop.name)
                store.joins.update(hop.carries)
                store.edits.extend(made)
    wanted = {join for hop in cutting.reuse.path for join in hop.carries}
    single = [store for store in found.values() if store.joins >= wanted and len(found) > 1]
    for store in single[: -TRIED - 1 : -1]:
        yield _stored([store], rank)
    if found:
        yield _stored(list(found.values()), rank + bool(single))


def where_handed(cutting: Cutting, rank: int) -> Iterator[Proposal]:
    """What a call hands to a function for good, which gives nothing back, cut in that call:
    `buffer.add(x, y, logits.detach())`."""
    path, project = cutting.reuse.path, cutting.project
    edits: list[Edit] = []
    for hop, given in hops_at(project, path, "argument"):
        before = path[: path.index(hop)]
        known = [(h, spot(project, h.at)) for h in before if {*h.carries} & {*hop.carries}]
        for module, call in calls_to(project, getattr(given.statement, "name", "")):
            if not isinstance(module.parents.get(call), ast.Expr):
                continue
            for argument in (*call.args, *(keyword.value for keyword in call.keywords)):
                for held, where in known:
                    if where is None or where.scope is not module.scope_of(call):
                        continue
                    if held.name == spelled(argument):
                        edits += cutting.replaced(module, argument, kind_carried(held))
                        break
    if edits:
        yield cut("detach-when-handed-over", "Detach what is handed over", joined(edits), rank)


def where_asked(cutting: Cutting, rank: int) -> Iterator[Proposal]:
    """Where a name by which a gradient is asked gets its value: history ends in what is asked."""
    edits: list[Edit] = []
    asked: list[Hop] = []
    for hop, where in hops_at(cutting.project, cutting.reuse.path, "bound"):
        if not isinstance(statement := where.statement, ast.Assign):
            continue
        value = part_for(statement, hop.name.__eq__)
        if value is not None and wants_gradient(where.scope, hop.name) and "." not in hop.name:
            if hop.name in bindings(statement) and isinstance(value, ast.Name | ast.Subscript):
                edits += cutting.replaced(where.module, value, hop.kind, hop.name)
                asked.append(hop)
    if edits and cutting.covering(asked):
        names = " and ".join(dict.fromkeys(f"`{hop.name}`" for hop in asked))
        yield cut("detach-when-taken", f"Make {names} a leaf", joined(edits), rank)


@dataclass
class _Store:
    """A statement that stores old values: under which names, which of them, cut by which edits."""

    names: list[str]
    joins: set[int]
    edits: list[Edit]


def _stored(chosen: list[_Store], rank: int) -> Proposal:
    names = dict.fromkeys(name for store in chosen for name in store.names)
    title = "Detach what " + " and ".join(f"`{name}`" for name in names) + " stores"
    edits = [edit for store in chosen for edit in store.edits]
    return cut("detach-when-stored", title, joined(edits), rank)


def where_read(cutting: Cutting, rank: int) -> Iterator[Proposal]:
    """The expressions that read the old values, each cut where it stands: all of them; or one
    alone, where a loss that only means to read another's part has walked it, too."""
    found: list[tuple[str, list[Edit]]] = []
    for at in dict.fromkeys(j.new.at for j in cutting.reuse.joins if j.new and j.new.at):
        where = spot(cutting.project, at)
        if where is None:
            continue
        known = {
            path: kind
            for hop in cutting.reuse.path
            if is_seen(hop, at, where.scope) and hop.how != "returned"
            for path, kind in spellings(hop)
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
