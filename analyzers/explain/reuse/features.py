"""Compute the features of a graph reuse that distinguish the patterns.

The features come from the evidence first; the source only shows how the names in it are bound and
used. Nothing here looks for an error: that one happened is given.
"""

from __future__ import annotations

import ast
from collections.abc import Iterator
from functools import cached_property

from analyzers.evidence import GraphReuse
from analyzers.explain.reuse.backward_pair import SUMMING, BackwardPair, is_sum
from analyzers.explain.reuse.binders import Binder, binders_of
from analyzers.explain.reuse.derivations import feeds, feeds_by_call, with_parts
from analyzers.explain.reuse.execution_counts import (
    binds_nothing,
    cache_of,
    constructs,
    only_when_missing,
)
from analyzers.explain.reuse.kept_values import (
    adds_up,
    arms,
    interpolates,
    is_average,
    queued,
    rate,
    sums,
)
from analyzers.explain.reuse.lifetimes import base
from analyzers.explain.reuse.runs_before import ran_before
from analyzers.explain.reuse.shared_frame import yields
from analyzers.explain.source_locations import resolve_location, values_of
from analyzers.source.callees import is_call
from analyzers.source.flow import backward_root, bindings, statements_of, value_of, walk_scope
from analyzers.source.project import Module, Project, Scope, spelled
from analyzers.source.reads import names_loaded
from analyzers.source.trees import walk
from provenance import StaleEdge


class ReuseFeatures(BackwardPair):
    """The lifetime of a reused graph with the features by which patterns are recognised."""

    def of_each_carrier(self) -> Iterator[ReuseFeatures]:
        """Yield these features once for each name that carried an old graph."""
        for carrier in self.carriers:
            story = ReuseFeatures(self.reuse, self.project)
            others = [c for c in self.carriers if c is not carrier]
            story.__dict__["carriers"] = (carrier, *others)
            yield story

    @cached_property
    def binders(self) -> list[Binder]:
        """Return the statements that bind the carrier."""
        return binders_of(self)

    @cached_property
    def hands_on(self) -> bool:
        """Return True if a name carries one tensor from iteration to iteration."""
        if self.same_pass or self.from_grad or not self.name or self.each_of_many:
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

    @cached_property
    def self_fed(self) -> bool:
        """Return True if the carrier's next value is computed from its last (a recurrence). Code
        before the loop computed the first.
        """
        feeders = [*self.binders, *self._assigned_by_property]
        return any(
            feeds(self.project, scope, statement, self._is_carrier)
            or (self.attribute and feeds_by_call(self.project, statement, self._is_carrier))
            for module, scope, statement in feeders
            if not self._before_loop(module, scope, statement)
        )

    def _before_loop(self, module: Module, scope: Scope, statement: ast.stmt) -> bool:
        own = self.shared is not None and scope is self.shared.scope
        return own and self.loop is not None and not module.holds(self.loop, statement)

    def _is_carrier(self, name: str) -> bool:
        """Return True if a name, in whatever function, denotes the carrier."""
        if self.attribute:
            last = name.rpartition(".")[2]
            return name == self.name or (
                "." in name and (last == self.attribute or last in self._properties)
            )
        return name == self.name

    @cached_property
    def _properties(self) -> set[str]:
        """Return names of properties whose setter stores into the carrier."""
        return {
            scope.name
            for _, scope, _ in self.binders
            if isinstance(scope, ast.FunctionDef)
            and any(spelled(d) == f"{scope.name}.setter" for d in scope.decorator_list)
        }

    @cached_property
    def _assigned_by_property(self) -> list[tuple[Module, Scope, ast.stmt]]:
        """Return the statements that bind the carrier through a property."""
        return [
            (module, module.scope_of(node), node)
            for module, node in (self.project.each(ast.stmt) if self._properties else ())
            if any("." in n and n.rpartition(".")[2] in self._properties for n in bindings(node))
        ]

    @cached_property
    def averaged(self) -> bool:
        """Return True if the carrier is a running average with plain coefficients (an EMA). An
        average with a learnt rate needs its history, as a recurrence does.
        """
        return any(not self._is_learnt(rate(arm)) for arm in self._averages) or any(
            interpolates(statement, self.attribute or self.name) for _, _, statement in self.binders
        )

    @cached_property
    def _averages(self) -> list[ast.expr]:
        """Return the averages that the carrier is bound to."""
        return [
            arm
            for _, scope, statement in self.binders
            if (value := value_of(statement)) is not None
            for arm in arms(value, scope, self.project)
            if is_average(arm, with_parts(scope, self._is_carrier), scope)
        ]

    def _is_learnt(self, name: str) -> bool:
        """Return True if a name is bound to a parameter."""
        return bool(name) and any(
            isinstance(value, ast.Call) and is_call(value, "torch.nn.Parameter")
            for value in values_of(self.project, name)
        )

    @cached_property
    def stored(self) -> bool:
        """Return True if the carrier is put into a container."""
        return any(
            isinstance(statement, ast.Expr)
            or any("[" in spelled(t) for t in getattr(statement, "targets", []))
            or (
                (value := value_of(statement)) is not None
                and queued(value, with_parts(scope, self._is_carrier), scope)
            )
            for _, scope, statement in self.binders
        )

    @cached_property
    def calls_backward_on_all(self) -> bool:
        """Return True if the root of the backward call combines all losses that the carrier has
        collected.
        """
        if not self._is_scalar or not self.bound_inside:
            return False
        root = backward_root(self.root_call) if self.root_call is not None else None
        container = self.holder.container if self.holder is not None else ""
        gathered = container.startswith(("list", "deque"))
        if root is None or not gathered:
            return False
        return bool(names_loaded(walk(root), self.name)) or self._made_by_owner(root)

    def _made_by_owner(self, root: ast.expr) -> bool:
        """Return True if a method of the carrier's owner reduces it to one
        number (`meter.mean()`).
        """
        owner = self.name.rpartition(".")[0]
        new = self.edge.new if self.edge is not None else None
        return bool(owner and new and is_sum(new.op)) and any(
            isinstance(node, ast.Call)
            and isinstance(node.func, ast.Attribute)
            and spelled(node.func.value) == owner
            for node in walk(root)
        )

    @cached_property
    def summed(self) -> bool:
        """Return True if the root of the failing call is the carrier itself as a total, a sum that
        contains it, or a combination of all losses that it has collected.
        """
        edge = self.edge
        if edge is None:
            return False
        if not self._is_scalar or not self.bound_inside:
            return False
        new = edge.new.op if edge.new is not None else ""
        is_root = self.name in self.root_names or any(
            sums(value, self.name) for value in self._root_values
        )
        if self.calls_backward_on_all or (new.startswith(SUMMING) and is_root):
            return True
        return any(
            adds_up(statement, self._is_carrier, scope, self.project)
            and (is_root or not (self.averaged or self._averages))
            for _, scope, statement in self.binders
        )

    @cached_property
    def _is_scalar(self) -> bool:
        """Return True if everything found under the carrier's name is a single number, as losses
        are.
        """
        shapes = [
            edge.shape
            for edge in self.reuse.stale_edges
            if edge is self.edge or any(base(h.path) == self.name for h in edge.holders)
        ]
        return all(shape in ((), (1,)) for shape in shapes)

    @cached_property
    def _root_values(self) -> list[ast.expr]:
        """Return the expressions in the shared frame that compute the root of the backward call."""
        values = [backward_root(self.root_call)] if self.root_call is not None else []
        if self.shared is not None:
            values += [
                value_of(node)
                for node in statements_of(self.shared.scope)
                if self.root_names & set(bindings(node))
            ]
        return [value for value in values if value is not None]

    @cached_property
    def same_consumer(self) -> bool:
        """Return True if both losses pass the carrier to the same network (`D(fake)`)."""
        if self.shared is None or not self.name:
            return False
        called = [
            spelled(node.func)
            for node in walk_scope(self.shared.scope)
            if isinstance(node, ast.Call)
            and any(spelled(argument) == self.name for argument in node.args)
        ]
        return len(called) > len(set(called))


def story_of(evidence: object, project: Project) -> ReuseFeatures | None:
    """Return the features of a reuse, computed once per piece of evidence;
    None for other evidence.
    """
    if not isinstance(evidence, GraphReuse):
        return None
    key = (ReuseFeatures, id(evidence))  # the id stays valid: the stored object holds the evidence
    story = project.kept.get(key)
    if not isinstance(story, ReuseFeatures):
        story = project.kept[key] = ReuseFeatures(evidence, project)
    return story
