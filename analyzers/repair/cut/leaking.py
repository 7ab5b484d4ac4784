"""Fix a history that grows because of `retain_graph=True`."""

from __future__ import annotations

import ast
import re
from collections.abc import Iterator
from dataclasses import dataclass

from analyzers.evidence import SilentFault
from analyzers.explain.listed import said
from analyzers.explain.pattern import GraphCarrier, Proposal
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
from analyzers.repair.cut.detaching import expected_shape, idiom_by
from analyzers.repair.cut.rendering import Writing
from analyzers.repair.reschedule.schedule import root_names
from analyzers.repair.rewrite import head_of, without_retaining
from analyzers.repair.sites.module_names import quote_of
from analyzers.source.edits import Edit
from analyzers.source.project import Module, Project
from provenance import CodeLine, Referrer

MAX_NAMES = 8  # that are cut off their past one by one
_OF_LIST = re.compile(r"\.(\d+)(?![^.\[])")  # a layer of a list: `net.layers.0.state`
_SETTABLE = ("list", "dict", "OrderedDict", "defaultdict", "deque")
AFTER = 16  # the rank of cuts after the backward call
OWN = 32  # of cuts in an object's own function, which may run many times for each backward call


@dataclass(frozen=True)
class Carried:
    """A value carried between iterations, and the statement before which it can be cut. `items`:
    its parts that were seen to hold an old graph, as the script spells them.
    """

    carrier: GraphCarrier
    where: SourceLocation
    before: ast.stmt
    place: CodeLine
    scope: ast.AST
    items: tuple[str, ...] = ()
    rank: int = 0

    def cuts(self) -> Iterator[list[str]]:
        """Yield statements that cut only what was seen, or all of it."""
        if self.items:
            yield [f"{item} = {item}.detach()" for item in self.items]
        yield from cut_lines(self.scope, self.carrier.name, indentation(self.where.module))


def carried(fault: SilentFault, project: Project) -> Iterator[Carried]:
    """Yield the loop's own names first, those seen to hold an old graph if there are any; then
    attributes that hold one, where their own functions read them.
    """
    where, backward_call = _backward_of(fault, project), fault.call
    if where is None:
        return
    for loop in where.module.loops_around(where.statement)[:1]:
        place = CodeLine(where.module.path, loop.lineno)
        seen = {root_of(holder.path) for holder in fault.holders}
        names = (
            carried_names(loop, root_names(backward_call, where))
            if backward_call is not None
            else []
        )
        for name in [name for name in names if name in seen] if seen else names:
            carrier, items = GraphCarrier(name, where.place), _items(name, fault, where.module)
            yield Carried(carrier, where, head_of(loop), place, where.scope, items)
    for name in names_held(fault.holders):
        if "." not in name:
            continue
        for module, assignment in assignments_to(project, name):
            binder = SourceLocation.of(module, assignment)
            for own, first in carried_attributes(binder):
                if own.rpartition(".")[2] == root_of(name).rpartition(".")[2]:
                    carrier = GraphCarrier(own, binder.place, "attribute")
                    yield Carried(carrier, binder, first, binder.place, module.tree, rank=OWN)


def _backward_of(fault: SilentFault, project: Project) -> SourceLocation | None:
    """Return the statement that calls backward, else the one where the fault was seen."""
    return resolve_location(project, fault.call.at if fault.call is not None else fault.at)


def _items(name: str, fault: SilentFault, module: Module) -> tuple[str, ...]:
    """Return the entries of a list or dictionary that were seen to hold an old graph."""
    quote = quote_of(module)
    held = [
        holder.path.replace("'", quote)
        for holder in fault.holders
        if root_of(holder.path) == name and holder.path.endswith("]")
        if holder.container in ("dict", "OrderedDict", "list") and holder.path.count("[") == 1
    ]
    return tuple(path for path in dict.fromkeys(held) if "…" not in path)


def detach_and_release(fault: SilentFault, project: Project) -> Iterator[Proposal]:
    """Yield proposals that detach each carried name where the next iteration begins, and free the
    graph again.
    """
    pairs = ((one, lines) for one in carried(fault, project) for lines in one.cuts())
    for rank, (one, lines) in enumerate(pairs):
        edit = one.where.editor.insert_before(one.before, *lines)
        yield _released(one.carrier.name, edit, _backward_of(fault, project), one.rank + rank)


def release_after_call(fault: SilentFault, project: Project) -> Iterator[Proposal]:
    """Yield proposals that cut all seen carriers together, in the function that knows them, after
    the call that leads to the backward call, and free the graph again.
    """
    carriers = [holder for holder in fault.holders if holder.when == "freed"]
    stack = fault.call.stack[::-1] if fault.call is not None and carriers else ()
    known = (p for p in stack if all(h.scope == p.function or _is_shared(h) for h in carriers))
    where = resolve_location(project, next(known, None))
    entries = any(holder.path.endswith("]") for holder in carriers)
    for rank, whole in enumerate((False, True) if entries else (False,)):  # other entries, later
        cuts = dict(_cut_of(h, where.module, whole) for h in carriers) if where is not None else {}
        if where is not None and all(cuts.values()) and len(cuts) <= MAX_NAMES:
            lines = [line for cut_off in cuts.values() for line in cut_off]
            edit = where.editor.insert_after(where.statement, *lines)
            backward = _backward_of(fault, project)
            yield _released("`, `".join(cuts), edit, backward, AFTER + rank)


def _is_shared(holder: Referrer) -> bool:
    """Return True if any function may set it: a part of a value with a global name."""
    return holder.scope == "<module>" and not holder.path.isidentifier()


def _cut_of(holder: Referrer, module: Module, whole: bool) -> tuple[str, list[str]]:
    """Return what is cut, as the script spells it, and how: an attribute or an entry that can be
    set alone, else the whole container.
    """
    path = _OF_LIST.sub(r"[\1]", holder.path).replace("'", quote_of(module))
    last = holder.container.rstrip("]").rpartition("[")[2]
    alone = not path.endswith("]") or (last in _SETTABLE and not whole)
    if alone and "…" not in path:
        return path, [f"{path} = {path}.detach()"]
    name = root_of(holder.path)
    return name, Writing(quote_of(module)).statements(name, expected_shape(name, holder)) or []


def _released(name: str, edit: Edit, location: SourceLocation | None, rank: int) -> Proposal:
    title = f"Detach `{name}`, and free each graph after its backward"
    return cut("detach-and-release", title, joined([edit, *without_retaining(location)]), rank)


def cut_after_backward(fault: SilentFault, project: Project) -> Iterator[Proposal]:
    """Yield a proposal that recreates the carriers of a hand-written engine from their numbers
    after the backward call.
    """
    where = resolve_location(project, fault.call.at) if fault.call is not None else None
    idiom = idiom_by(fault.gradient, project)
    names = [n for n in names_held(fault.holders) if "…" not in n][:MAX_NAMES]
    if where is not None and idiom is not None and names and fault.engine == "custom":
        edit = where.editor.insert_after(where.statement, *(f"{n} = {idiom.of(n)}" for n in names))
        title = f"Cut {said(names)} off from its past after the backward"
        yield cut("detach-behind-backward", title, (edit,), 0)
