"""Locate a reused graph: the loop between both backward calls, and the names that carried it."""

from __future__ import annotations

import ast
from collections.abc import Iterator
from dataclasses import replace
from functools import cached_property

from analyzers.explain.pattern import CrossedBoundary, GraphCarrier
from analyzers.explain.reuse.carrier_paths import (
    ENTRIES,
    attributes_bound,
    base,
    depth,
    last,
    named_first,
    renewed,
)
from analyzers.explain.reuse.container_kinds import container_by_use
from analyzers.explain.reuse.definition_site import onset
from analyzers.explain.reuse.escapes import handings
from analyzers.explain.reuse.iteration_sources import taken_from
from analyzers.explain.reuse.recordtypes import is_named_tuple_field
from analyzers.explain.reuse.shared_frame import SharedFrame
from analyzers.explain.source_locations import hops_at, resolve_location
from analyzers.source.backward import BACKWARD_CALLS, backward_root
from analyzers.source.callees import creates_object
from analyzers.source.flow import bindings, definitions, reads
from analyzers.source.project import Loop, Module, spelled
from analyzers.source.trees import walk
from provenance import Binding, CodeLine, Referrer, StaleEdge


class Lifetime(SharedFrame):
    """A piece of `GraphReuse` evidence, laid over the source it speaks of."""

    @cached_property
    def edge(self) -> StaleEdge | None:
        """Return the most informative stale edge: one whose tensor has a name."""
        named = [edge for edge in named_first(self.reuse.stale_edges) if edge.holders]
        return next(iter(named or self.reuse.stale_edges), None)

    @cached_property
    def carriers(self) -> tuple[GraphCarrier, ...]:
        """Return every structure that carried the old graph, the best known first."""
        found: dict[str, GraphCarrier] = {}
        for edge in named_first(self.reuse.stale_edges):
            if edge.holders:
                name, holder = self._named(edge)
                kept = self.handed.get(name)
                if kept is not None:
                    found.setdefault(kept.name, kept)
                elif name not in found:
                    found[name] = GraphCarrier(
                        name, self._taken_on(name, holder, edge), holder.kind
                    )
        return tuple(found.values()) or self._named_where_made

    def _named(self, edge: StaleEdge) -> tuple[str, Referrer]:
        """Return the carrier's usual name, and the reference under which it was found. If every
        iteration rebinds that name, the run may have seen what brought in the old value.
        """
        if (asked := self._asked_of(edge)) is not None:
            return asked
        holder = min(edge.holders, key=self._likelihood)
        name = self._whole(base(holder.path))
        shared, used = self.shared, edge.new.at if edge.new is not None else None
        if shared is None or used is None or not shared.loops or self.same_iteration:
            return name, holder
        if not renewed(shared.loops[0], name):
            return name, holder
        for binding in self.reuse.path:
            if binding.how == "argument" and binding.at.frame == used.frame and "." in binding.name:
                kept = Referrer(
                    binding.paths[0], binding.at.function, "attribute", frame=used.frame
                )
                return base(binding.name), replace(kept, container=binding.kind.kind)
        return name, holder

    def _asked_of(self, edge: StaleEdge) -> tuple[str, Referrer] | None:
        """Return the collection of which one entry was the root, if backward began in the old
        graph: its other names belong to the iterations that made it (`states[j].backward(...)`).
        """
        where = resolve_location(self.project, self.reuse.reached.at) if edge.new is None else None
        call = (
            where.call(*BACKWARD_CALLS) if where is not None and not self.reuse.same_root else None
        )
        root = backward_root(call) if call is not None else None
        name, entry, _ = (spelled(root) if root is not None else "").partition("[")
        for holder in edge.holders if name and entry else ():
            if holder.path.startswith(f"{name}["):
                kind = container_by_use(self.project, name) or holder.container
                return name, replace(holder, container=kind)
        return None

    @property
    def _named_where_made(self) -> tuple[GraphCarrier, ...]:
        """Return a carrier whose name is gone (a local of a function that returned): the structure
        in which a run saw it outlive the iteration; else the name on the line that made it,
        preferably one that the line which uses it reads.
        """
        path = [binding for binding in self.reuse.path if "[" in binding.paths[0]]
        kept = [
            binding.name for binding in path if binding.how == "outlived" and "." in binding.name
        ]
        for binding in path if kept and not self.same_iteration else ():
            if binding.how == "bound" and last(binding.name) == last(kept[0]):
                return (GraphCarrier(kept[0], binding.at, "item"),)
        for edge in self.reuse.stale_edges:
            made = resolve_location(self.project, edge.old.at if edge.new is not None else None)
            if made is None or not (names := bindings(made.statement)):
                continue
            used = resolve_location(self.project, edge.new.at if edge.new is not None else None)
            read = [name for name in names if used is not None and reads(used.statement, name)]
            again = used is not None and used.statement is made.statement
            if again and not read and not self.same_iteration:
                continue  # a name that is bound later brought in nothing old
            return (GraphCarrier(base((read or names)[0]), made.place),)
        return ()

    @cached_property
    def handed(self) -> dict[str, GraphCarrier]:
        """Return, for names that every iteration rebinds, the escape by which an object keeps the
        value for the next iteration.
        """
        if self.shared is None or not self.shared.loops or self.same_iteration:
            return {}
        found: dict[str, GraphCarrier] = {}
        for name, holder in self.held.items():
            for module, region in self._passing_regions(name, holder):
                if (
                    handing := next(handings(self.project, module, region, name), None)
                ) is not None:
                    found.setdefault(name, handing)
        return found

    def _passing_regions(self, name: str, holder: Referrer) -> Iterator[tuple[Module, ast.AST]]:
        """Yield the code in which the name exists for one iteration: the loop's body, or a function
        that the loop calls.
        """
        shared = self.frame
        if renewed(shared.loops[0], name):
            yield shared.module, shared.loops[0]
        if holder.kind in ("local", "item") and holder.frame not in (0, shared.frame):
            for module, function in self.project.functions_by_name(holder.scope):
                if function is not shared.scope and not self.is_outer(function):
                    yield module, function

    def _whole(self, name: str) -> str:
        """Return what the loop iterates over if the name is its variable: `batch` for `sample`."""
        shared = self.shared
        for around in shared.loops if shared is not None else []:
            for loop, scope in self.handing_on(around):
                source = taken_from(loop, scope, name)
                if source is not None and not self._is_constructed(source):
                    return source
        while "." in name and not self._bound_somewhere(name) and not self._seen_stored(name):
            owner = name.rpartition(".")[0]
            if owner == "self":
                break
            name = base(owner)
        seen = self._seen_stored(name) if ENTRIES.search(name) else None
        return base(seen.name) if seen is not None else name

    def _is_constructed(self, name: str) -> bool:
        """Return True if the name denotes an object made by calling a class (for example a
        `DataLoader`).
        """
        return self.shared is not None and any(
            isinstance(statement, ast.Assign)
            and isinstance(statement.value, ast.Call)
            and creates_object(statement.value)
            for statement in definitions(self.shared.scope, name)
        )

    def _bound_somewhere(self, path: str) -> bool:
        """Return True if the project itself binds such an attribute. A library binds its own
        internally, and then the object is what a person can name.
        """
        last = path.rpartition(".")[2]
        if is_named_tuple_field(self.project, last):
            return False  # cannot be bound; another object has an attribute of this name
        return any(last in attributes_bound(m.tree) for m in self.project.modules.values())

    @cached_property
    def first_named(self) -> list[tuple[Binding, Module, ast.stmt]]:
        """Return, for each carried value, the binding that first named it in a run, with its
        statement.
        """
        found: list[tuple[Binding, Module, ast.stmt]] = []
        named: set[int] = set()
        for binding, where in hops_at(self.project, self.reuse.path, "bound"):
            if bindings(where.statement) and not set(binding.carries) <= named:
                named.update(binding.carries)
                found.append((binding, where.module, where.statement))
        return found

    def storing_calls(self, scope: ast.AST) -> list[ast.stmt]:
        """Return the statements of a function after which a run first saw old values that they do
        not bind: a call that leaves them in its objects (`model(image)`).
        """
        found: list[ast.stmt] = []
        known: set[int] = set()
        for binding, where in hops_at(self.project, self.reuse.path, "bound"):
            if where.scope is not scope or set(binding.carries) <= known:
                continue
            known.update(binding.carries)
            calls = any(isinstance(node, ast.Call) for node in walk(where.statement))
            if calls and base(binding.name) not in bindings(where.statement):
                found.append(where.statement)
        return found

    def _seen_stored(self, path: str) -> Binding | None:
        """Return the binding by which such an attribute was seen to be stored, under its name
        there.
        """
        for binding, _, _ in self.first_named:
            if "." in binding.name and last(base(binding.name)) == last(path):
                return binding
        return None

    @cached_property
    def held(self) -> dict[str, Referrer]:
        """Return, for each carrier, the reference under which it was found (`hidden[0]` for
        `hidden`).
        """
        found: dict[str, Referrer] = {}
        for edge in self.reuse.stale_edges:
            if edge.holders:
                name, holder = self._named(edge)
                found.setdefault(name, self._in_parts(name, holder))
        return found

    def _in_parts(self, name: str, holder: Referrer) -> Referrer:
        """Return the reference, as a container if the name's uses show that it holds several
        tensors. Static analysis does not always know.
        """
        if self.reuse.how != "predicted" or holder.path != name or holder.container != "Tensor":
            return holder
        kind = container_by_use(self.project, name)
        return holder if kind is None else replace(holder, path=f"{name}[0]", container=kind)

    @cached_property
    def holder(self) -> Referrer | None:
        """Return the reference under which the first carrier was found."""
        return self.held.get(self.carriers[0].name) if self.carriers else None

    @cached_property
    def loop(self) -> Loop | None:
        """Return the loop whose next iteration met the old graph; None if both calls are in one
        iteration.
        """
        if self.shared is None or self.same_iteration:
            return None
        names = [carrier.name for carrier in self.carriers]
        for loop in self.shared.loops:
            if not any(renewed(loop, name) for name in names):
                return loop
        return self.shared.loops[0] if self.shared.loops else None

    @cached_property
    def boundary(self) -> CrossedBoundary:
        """Return the boundary that the carrier crossed."""
        if self.loop is not None and self.shared is not None:
            target = spelled(self.loop.target) if not isinstance(self.loop, ast.While) else ""
            place = CodeLine(self.shared.module.path, self.loop.lineno, self.shared.function)
            return CrossedBoundary("epoch" if "epoch" in target.lower() else "loop", place)
        called_again = len(self.reuse.reached.stack) > 1 and not self.same_iteration
        if self.shared is not None and called_again:
            shared = self.shared
            place = CodeLine(shared.module.path, shared.reached_line, shared.function)
            return CrossedBoundary("call", place)
        return CrossedBoundary()

    def _taken_on(self, name: str, holder: Referrer, edge: StaleEdge) -> CodeLine:
        """Return the line where the name takes on the old graph."""
        if (place := onset(self, name, holder, edge)) is not None:
            return place
        seen = self._seen_stored(name)
        return (seen.at if seen is not None else None) or edge.old.at or self.reuse.reached.at

    def _likelihood(self, holder: Referrer) -> tuple[int, ...]:
        """Return a sort key that puts first the name that a person would point to: one that
        outlives the iteration, in the frame that both calls share, and that is read there.
        """
        shared = self.shared
        name = base(holder.path)
        here = shared is not None and bool(holder.frame) and holder.frame == shared.frame
        outlives = holder.kind in ("global", "attribute", "closure")
        outside = outlives or holder.scope in ("<module>", "")
        fleeting = unread = 0
        if shared is not None and here:
            loop = shared.loops[0] if shared.loops else None
            fleeting = int(loop is not None and not self.same_iteration and renewed(loop, name))
            unread = 0 if reads(loop or shared.scope, name) else 1
        elif not outside:
            fleeting = 1
        foreign = int("." in name and not self._bound_somewhere(name))
        return (fleeting, foreign, 0 if here else 1, unread, depth(holder.path), len(holder.path))
