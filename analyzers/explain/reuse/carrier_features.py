"""Describe what carried a reused graph from one backward call to the next."""

from __future__ import annotations

import ast
from functools import cached_property

from analyzers.explain.reuse.backward_pair import BackwardPair
from analyzers.explain.reuse.binders import Binder, binders_of
from analyzers.explain.reuse.execution_counts import (
    binds_nothing,
    cache_of,
    constructs,
    only_when_missing,
)
from analyzers.explain.reuse.runs_before import ran_before
from analyzers.explain.reuse.shared_frame import yields
from analyzers.explain.source_locations import resolve_location
from analyzers.source.project import Module, Scope
from provenance import StaleEdge


class CarrierFeatures(BackwardPair):
    """The bindings of the carrier, and where its value was made."""

    @cached_property
    def binders(self) -> list[Binder]:
        """Return the statements that bind the carrier."""
        return binders_of(self)

    @cached_property
    def hands_on(self) -> bool:
        """Return True if a name carries one tensor from iteration to iteration."""
        if self.same_iteration or self.from_grad or not self.name or self.each_of_many:
            return False
        return not self.sliced or self.reuse.remade

    @cached_property
    def bound_inside(self) -> bool:
        """Return True if the carrier is rebound in the iterations between the two calls."""
        giving = [binder for binder in self.binders if not binds_nothing(binder[2])]
        if self.shared is None:  # only constructors certainly ran before
            before = all(constructs(self.project, scope) for _, scope, _ in giving)
            return self.reuse.remade or not giving or not before
        return not self.binders or any(self.binds_inside(*binder) for binder in giving)

    def binds_inside(self, module: Module, scope: Scope, statement: ast.stmt) -> bool:
        """Return True if a binder of the carrier runs in the iterations between the two calls."""
        if self.shared is not None and scope is self.shared.scope:
            if self.loop is None:  # one statement may lead to both, as a closure's step does
                return self.shared.freed is not self.shared.reached
            return module.holds(self.loop, statement)
        if ran_before(self, scope, again=bool(module.loops_around(statement))):
            return False
        if self.loop is not None and scope in self.generators_of(self.loop):
            loops = [loop for given in yields(scope) for loop in module.loops_around(given)]
            return any(module.holds(loop, statement) for loop in loops)
        name = self.attribute
        return not name or not only_when_missing(self.project, statement, name)

    @cached_property
    def kept_on_object(self) -> bool:
        """Return True if the carrier is an attribute that outlives the function which calls
        backward, and not of an object that only collects the names of the code around the loop.
        """
        scope = self.shared.scope if self.shared is not None else None
        gathered = bool(self.binders) and all(
            own is scope and isinstance(own, ast.Module) for _, own, _ in self.binders
        )
        return bool(self.attribute) and not gathered

    @cached_property
    def cached(self) -> bool:
        """Return True if the carrier is filled only when it is missing."""
        return self._made_once or any(
            only_when_missing(self.project, statement, self.attribute)
            for _, _, statement in self.binders
            if self.attribute
        )

    @cached_property
    def _made_once(self) -> bool:
        """Return True if a library caches the result of a function that made the first old tensor.
        This includes a library that caches internally, where the same line of the script reads it
        again and no name of the script holds it.
        """
        return self._kept_inside or any(
            cache_of(f) for edge, _, f in self.made_in if edge is self.edge
        )

    @property
    def _kept_inside(self) -> bool:
        edge = self.edge
        if edge is None or edge.holders or not edge.old.library or edge.new is None:
            return False
        made, read = edge.old.at, edge.new.at
        return (
            made is not None
            and read is not None
            and (made.file, made.line) == (read.file, read.line)
        )

    @cached_property
    def made_in(self) -> list[tuple[StaleEdge, Module, Scope]]:
        """Return the functions in which each old tensor was made, and those that were seen to
        return it.
        """
        found: list[tuple[StaleEdge, Module, Scope]] = []
        for number, edge in enumerate(self.reuse.stale_edges):
            nodes = (edge.old, edge.raising)
            places = [node.at for node in nodes if node is not None]
            bindings = (h for h in self.reuse.path if h.how == "returned" and number in h.carries)
            for place in (*places, *(binding.at for binding in bindings)):
                where = resolve_location(self.project, place)
                found += [(edge, where.module, where.scope)] if where is not None else []
        return found
