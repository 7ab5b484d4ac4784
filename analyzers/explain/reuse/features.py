"""Compute the features of a graph reuse that distinguish the patterns.

The features come from the evidence first; the source only shows how the names in it are bound and
used. Nothing here looks for an error: that one happened is given.
"""

from __future__ import annotations

import ast
from collections.abc import Iterator
from functools import cached_property

from analyzers.evidence import GraphReuse
from analyzers.explain.reuse.backward_pair import SUMMING, is_sum
from analyzers.explain.reuse.carrier_features import CarrierFeatures
from analyzers.explain.reuse.carrier_paths import base
from analyzers.explain.reuse.derivations import feeds, feeds_by_call, with_parts
from analyzers.explain.reuse.kept_values import (
    adds_up,
    arms,
    interpolates,
    is_average,
    queued,
    rate,
    sums,
)
from analyzers.explain.source_locations import values_of
from analyzers.source.backward import backward_root
from analyzers.source.callees import is_call
from analyzers.source.flow import bindings, statements_of, value_of, walk_scope
from analyzers.source.project import Module, Project, Scope, spelled
from analyzers.source.reads import names_loaded
from analyzers.source.trees import nodes_of, remembered, walk


class ReuseFeatures(CarrierFeatures):
    """The lifetime of a reused graph with the features by which patterns are recognised."""

    def of_each_carrier(self) -> Iterator[ReuseFeatures]:
        """Yield these features once for each name that carried an old graph."""
        for carrier in self.carriers:
            story = ReuseFeatures(self.reuse, self.project)
            others = [c for c in self.carriers if c is not carrier]
            story.__dict__["carriers"] = (carrier, *others)
            yield story

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
            isinstance(node.func, ast.Attribute) and spelled(node.func.value) == owner
            for node in nodes_of(root, ast.Call)
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
    def is_term(self) -> bool:
        """Return True if the second loss is a sum of which the carrier is a term: as a constant, it
        would be none."""
        return any(sums(value, self.name) for value in self._root_values)

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
        called = _given(self.shared.scope).get(self.name, ())
        return len(called) > len(set(called))


@remembered
def _given(scope: Scope) -> dict[str, list[str]]:
    """Return, by each argument of a scope's calls as it is spelled, what is called with it."""
    found: dict[str, list[str]] = {}
    for node in walk_scope(scope):
        if isinstance(node, ast.Call):
            for argument in {spelled(argument) for argument in node.args}:
                found.setdefault(argument, []).append(spelled(node.func))
    return found


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
