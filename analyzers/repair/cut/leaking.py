"""Fixes for a history that `retain_graph=True` lets grow."""

from __future__ import annotations

import ast
from collections.abc import Iterator
from dataclasses import dataclass

from analyzers.evidence import Kind, Place, SilentFault
from analyzers.explain.pattern import Carrier, Proposal
from analyzers.explain.spots import Spot, assignments_to, names_held, root_of, spot
from analyzers.repair.blocks import indentation, joined
from analyzers.repair.cut.carrying import carried_attributes, carried_names, cut_lines
from analyzers.repair.cut.cutting import cut
from analyzers.repair.cut.detaching import idiom_by, told
from analyzers.repair.cut.kinds import Writing
from analyzers.repair.reschedule.schedule import root_names
from analyzers.repair.rewrite import head_of, without_retaining
from analyzers.repair.sites.names import quote_of
from analyzers.source.edits import Edit
from analyzers.source.flow import reads
from analyzers.source.project import Module, Project

MAX_NAMES = 8  # that are cut off their past one by one


@dataclass(frozen=True)
class Carried:
    """What goes from pass to pass: the statement in front of which it can be cut. `items`: what
    was seen in it to hold an old graph, as the script spells it."""

    carrier: Carrier
    where: Spot
    before: ast.stmt
    place: Place
    scope: ast.AST
    items: tuple[str, ...] = ()
    kind: Kind | None = None  # as far as the run told

    def cuts(self) -> Iterator[list[str]]:
        """Statements that cut it: what was seen alone, or all of it."""
        if self.kind is not None:
            yield Writing().statements(self.carrier.name, self.kind) or []
            return
        if self.items:
            yield [f"{item} = {item}.detach()" for item in self.items]
        yield from cut_lines(self.scope, self.carrier.name, indentation(self.where.module))


def carried(fault: SilentFault, project: Project) -> Iterator[Carried]:
    """The loop's own names first, of these the ones that were seen to hold an old graph; then
    attributes that hold one."""
    where = spot(project, fault.visit.at if fault.visit is not None else fault.at)
    if where is None:
        return
    for loop in where.module.loops_around(where.statement)[:1] if fault.visit is not None else []:
        assert fault.visit is not None
        place = Place(where.module.path, loop.lineno)
        seen = {root_of(holder.path) for holder in fault.holders}
        names = carried_names(loop, root_names(fault.visit, where))
        for name in sorted(names, key=lambda name: name not in seen):
            carrier, items = Carrier(name, where.place), _items(name, fault, where.module)
            yield Carried(carrier, where, head_of(loop), place, where.scope, items)
        for name, holder in {root_of(held.path): held for held in fault.holders}.items():
            owner, dot, _ = name.partition(".")
            if dot and owner != "self" and reads(loop, owner):
                carrier, kind = Carrier(name, where.place, "attribute"), told(name, holder)
                yield Carried(carrier, where, head_of(loop), place, where.scope, kind=kind)
    for name in names_held(fault.holders):
        if "." not in name:
            continue
        for module, assignment in assignments_to(project, name):
            binder = Spot(module, assignment, Place(module.path, assignment.lineno))
            for own, first in carried_attributes(binder):
                if own.rpartition(".")[2] == name.partition("[")[0].rpartition(".")[2]:
                    carrier = Carrier(own, binder.place, "attribute")
                    yield Carried(carrier, binder, first, binder.place, module.tree)


def _items(name: str, fault: SilentFault, module: Module) -> tuple[str, ...]:
    """The entries of a list or dictionary that were seen to hold an old graph."""
    quote = quote_of(module)
    held = [
        holder.path.replace("'", quote)
        for holder in fault.holders
        if root_of(holder.path) == name and holder.path.endswith("]")
        if holder.container in ("dict", "OrderedDict", "list") and holder.path.count("[") == 1
    ]
    return tuple(path for path in dict.fromkeys(held) if "…" not in path)


def detach_and_release(fault: SilentFault, project: Project) -> Iterator[Proposal]:
    """Each carried name detached where the next pass begins, and the graph freed again."""
    rank = 0
    walked = spot(project, fault.visit.at if fault.visit is not None else fault.at)
    for one in carried(fault, project):
        for lines in filter(None, one.cuts()):
            edit = one.where.editor.insert_before(one.before, *lines)
            yield _released(one.carrier.name, edit, walked, rank)
            rank += 1


def released_behind(fault: SilentFault, project: Project) -> Iterator[Proposal]:
    """An object's state cut in the function that knows it, behind the call that comes to the walk,
    and the graph freed again."""
    visit = fault.visit
    walked = spot(project, visit.at if visit is not None else fault.at)
    for name, holder in {root_of(held.path): held for held in fault.holders}.items():
        for place in visit.stack if visit is not None and "." in name else ():
            where = spot(project, place) if place.frame == holder.frame else None
            lines = Writing().statements(name, told(name, holder))
            if where is not None and lines and not isinstance(where.statement, ast.Return):
                edit = where.editor.insert_after(where.statement, *lines)
                yield _released(name, edit, walked, MAX_NAMES)


def _released(name: str, edit: Edit, walked: Spot | None, rank: int) -> Proposal:
    title = f"Detach `{name}`, and free each graph after its backward"
    return cut("detach-and-release", title, joined([edit, *without_retaining(walked)]), rank)


def cut_behind_walk(fault: SilentFault, project: Project) -> Iterator[Proposal]:
    """What carries the past of a hand-written engine, made anew of its numbers behind the walk."""
    where = spot(project, fault.visit.at) if fault.visit is not None else None
    idiom = idiom_by(fault.gradient, project)
    names = [n for n in names_held(fault.holders) if "…" not in n][:MAX_NAMES]
    if where is not None and idiom is not None and names:
        lines = [f"{name} = {idiom.of(name)}" for name in names]
        told = " and ".join(f"`{name}`" for name in names)
        edit = where.editor.insert_after(where.statement, *lines)
        yield cut(
            "detach-behind-backward", f"Cut {told} off its past behind the backward", (edit,), 0
        )
