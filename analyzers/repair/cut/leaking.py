"""Fixes for a history that `retain_graph=True` lets grow."""

from __future__ import annotations

import ast
import re
from collections.abc import Iterator
from dataclasses import dataclass

from analyzers.evidence import Holder, Place, SilentFault
from analyzers.explain.listed import said
from analyzers.explain.pattern import Carrier, Proposal
from analyzers.explain.source_locations import (
    SourceLocation,
    assignments_to,
    names_held,
    resolve_location,
    root_of,
)
from analyzers.repair.blocks import indentation, joined
from analyzers.repair.cut.carrying import carried_attributes, carried_names, cut_lines
from analyzers.repair.cut.cutting import cut
from analyzers.repair.cut.detaching import idiom_by, told
from analyzers.repair.cut.kinds import Writing
from analyzers.repair.reschedule.schedule import root_names
from analyzers.repair.rewrite import head_of, without_retaining
from analyzers.repair.sites.names import quote_of
from analyzers.source.edits import Edit
from analyzers.source.project import Module, Project

MAX_NAMES = 8  # that are cut off their past one by one
_OF_LIST = re.compile(r"\.(\d+)(?![^.\[])")  # a layer of a list: `net.layers.0.state`
_SETTABLE = ("list", "dict", "OrderedDict", "defaultdict", "deque")
BEHIND = 16  # the rank of cuts behind the walk
OWN = 32  # of those in an object's own function, which may be called many times for each walk


@dataclass(frozen=True)
class Carried:
    """What goes from pass to pass: the statement in front of which it can be cut. `items`: what
    was seen in it to hold an old graph, as the script spells it."""

    carrier: Carrier
    where: SourceLocation
    before: ast.stmt
    place: Place
    scope: ast.AST
    items: tuple[str, ...] = ()
    rank: int = 0

    def cuts(self) -> Iterator[list[str]]:
        """Statements that cut it: what was seen alone, or all of it."""
        if self.items:
            yield [f"{item} = {item}.detach()" for item in self.items]
        yield from cut_lines(self.scope, self.carrier.name, indentation(self.where.module))


def carried(fault: SilentFault, project: Project) -> Iterator[Carried]:
    """The loop's own names first, of these the ones that were seen to hold an old graph, where any
    was; then attributes that hold one, where their own functions read them."""
    where, visit = _walk_of(fault, project), fault.visit
    if where is None:
        return
    for loop in where.module.loops_around(where.statement)[:1]:
        place = Place(where.module.path, loop.lineno)
        seen = {root_of(holder.path) for holder in fault.holders}
        names = carried_names(loop, root_names(visit, where)) if visit is not None else []
        for name in [name for name in names if name in seen] if seen else names:
            carrier, items = Carrier(name, where.place), _items(name, fault, where.module)
            yield Carried(carrier, where, head_of(loop), place, where.scope, items)
    for name in names_held(fault.holders):
        if "." not in name:
            continue
        for module, assignment in assignments_to(project, name):
            binder = SourceLocation(module, assignment, Place(module.path, assignment.lineno))
            for own, first in carried_attributes(binder):
                if own.rpartition(".")[2] == root_of(name).rpartition(".")[2]:
                    carrier = Carrier(own, binder.place, "attribute")
                    yield Carried(carrier, binder, first, binder.place, module.tree, rank=OWN)


def _walk_of(fault: SilentFault, project: Project) -> SourceLocation | None:
    """The statement that walks the graphs, else the one where the fault was seen."""
    return resolve_location(project, fault.visit.at if fault.visit is not None else fault.at)


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
    pairs = ((one, lines) for one in carried(fault, project) for lines in one.cuts())
    for rank, (one, lines) in enumerate(pairs):
        edit = one.where.editor.insert_before(one.before, *lines)
        yield _released(one.carrier.name, edit, _walk_of(fault, project), one.rank + rank)


def released_behind(fault: SilentFault, project: Project) -> Iterator[Proposal]:
    """All that was seen to carry the graph, cut together in the function that knows it, behind the
    call that comes to the walk, and the graph freed again."""
    carriers = [holder for holder in fault.holders if holder.when == "freed"]
    stack = fault.visit.stack[::-1] if fault.visit is not None and carriers else ()
    known = (p for p in stack if all(h.scope == p.function or _is_shared(h) for h in carriers))
    where = resolve_location(project, next(known, None))
    entries = any(holder.path.endswith("]") for holder in carriers)
    for rank, whole in enumerate((False, True) if entries else (False,)):  # other entries, later
        cuts = dict(_cut_of(h, where.module, whole) for h in carriers) if where is not None else {}
        if where is not None and all(cuts.values()) and len(cuts) <= MAX_NAMES:
            lines = [line for cut_off in cuts.values() for line in cut_off]
            edit = where.editor.insert_after(where.statement, *lines)
            walk = _walk_of(fault, project)
            yield _released("`, `".join(cuts), edit, walk, BEHIND + rank)


def _is_shared(holder: Holder) -> bool:
    """Whether any function may set it: a part of what the module has a name for."""
    return holder.scope == "<module>" and not holder.path.isidentifier()


def _cut_of(holder: Holder, module: Module, whole: bool) -> tuple[str, list[str]]:
    """What is cut, as the script spells it, and how: an attribute or an entry that can be set by
    itself, else the whole of what holds it."""
    path = _OF_LIST.sub(r"[\1]", holder.path).replace("'", quote_of(module))
    last = holder.container.rstrip("]").rpartition("[")[2]
    alone = not path.endswith("]") or (last in _SETTABLE and not whole)
    if alone and "…" not in path:
        return path, [f"{path} = {path}.detach()"]
    name = root_of(holder.path)
    return name, Writing(quote_of(module)).statements(name, told(name, holder)) or []


def _released(name: str, edit: Edit, walked: SourceLocation | None, rank: int) -> Proposal:
    title = f"Detach `{name}`, and free each graph after its backward"
    return cut("detach-and-release", title, joined([edit, *without_retaining(walked)]), rank)


def cut_behind_walk(fault: SilentFault, project: Project) -> Iterator[Proposal]:
    """What carries the past of a hand-written engine, made anew of its numbers behind the walk."""
    where = resolve_location(project, fault.visit.at) if fault.visit is not None else None
    idiom = idiom_by(fault.gradient, project)
    names = [n for n in names_held(fault.holders) if "…" not in n][:MAX_NAMES]
    if where is not None and idiom is not None and names:
        edit = where.editor.insert_after(where.statement, *(f"{n} = {idiom.of(n)}" for n in names))
        title = f"Cut {said(names)} off its past behind the backward"
        yield cut("detach-behind-backward", title, (edit,), 0)
