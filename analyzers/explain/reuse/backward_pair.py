"""Characterise the two backward calls of a reused graph by their root tensors."""

from __future__ import annotations

import ast
import re
from functools import cached_property

from analyzers.explain.reuse.carrier_paths import base
from analyzers.explain.reuse.kept_values import adds_up, sums
from analyzers.explain.reuse.lifetimes import Lifetime
from analyzers.explain.reuse.manual_updates import updates_in
from analyzers.explain.source_locations import resolve_location
from analyzers.source.backward import BACKWARD_CALLS, backward_calls, backward_root
from analyzers.source.callees import is_call
from analyzers.source.calls import calls_of, steps, updates_by_hand
from analyzers.source.flow import (
    bindings,
    definitions,
    mentions,
    names_read,
    statements_of,
    value_of,
)
from analyzers.source.loop_iterations import Iterated, iterated
from analyzers.source.project import Loop, Scope, spelled
from analyzers.source.trees import nodes_of, position, walk

SUMMING = ("Add", "Stack", "Cat", "Sum", "Mean")
_PARTING = ("Split", "Unbind", "Chunk", "Unsafesplit", "Unsafechunk")
_OPTIMIZER = re.compile(
    r"optim(?:izer)?s?(?:/|\.py)"
)  # a file of optimizers, not of `optimization`
_SCALING = ("Mul", "Div", "Neg", "Sub", *SUMMING)


def is_sum(op: str) -> bool:
    """Return True if an operation, by its node's name or as static analysis names it, combines
    several values into one.
    """
    return op.capitalize().startswith(SUMMING)


class BackwardPair(Lifetime):
    """The two backward calls and their roots."""

    @cached_property
    def name(self) -> str:
        """Return the first carrier's name; empty if the tensor had none."""
        return self.carriers[0].name if self.carriers else ""

    @cached_property
    def attribute(self) -> str:
        """Return the last part of an attribute path (`hidden` for `self.model.hidden`)."""
        return self.name.rpartition(".")[2] if "." in self.name else ""

    @cached_property
    def root_call(self) -> ast.Call | None:
        """Return the failing `backward` or `grad` call in the source."""
        where = resolve_location(self.project, self.reuse.reached.at)
        return where.call(*BACKWARD_CALLS) if where is not None else None

    @cached_property
    def root_names(self) -> set[str]:
        """Return the names of the failing call's root tensor."""
        names = {name.partition("[")[0] for name in self.reuse.reached.root}
        root_node = backward_root(self.root_call) if self.root_call is not None else None
        if root_node is not None:
            names.add(spelled(root_node))
        return names

    @cached_property
    def sliced(self) -> bool:
        """Return True if each iteration uses one sample, step or slice of the carrier."""
        if self._inner_loop is None or self._is_collection:
            return False
        return any(self._slices(*one) for one in self.handing_on(self._inner_loop))

    def _slices(self, loop: Loop, scope: Scope) -> bool:
        """Return True if each iteration of a loop takes its part of the carrier."""
        through = iterated(loop, scope)
        if through is None:
            return False
        over = through.over
        keyed = isinstance(over, ast.Call) and is_call(over, "list.items", "list.values")
        if keyed:
            return False
        if self.name and mentions(over, self.name):
            return True
        if any(self._made_per_sample(name) for name in names_read(over)):
            return True
        if self._takes_next_of(names_read(over)):
            return True
        return any(
            self.name
            and spelled(node.value) == self.name
            and names_read(node.slice) & through.names
            for node in nodes_of(loop, ast.Subscript)
        )

    def _takes_next_of(self, names: set[str]) -> bool:
        """Return True if the current root was an entry of one of these collections when the
        previous iteration ran backward on another entry: all come from one forward pass.
        """
        freed, reached = self.reuse.freed, self.reuse.reached
        if freed.at != reached.at or reached.iteration != freed.iteration + 1:
            return False
        held = [
            h.path for edge in self.reuse.stale_edges for h in edge.holders if h.when == "freed"
        ]
        return any("[" in path and base(path) in names for path in held)

    @cached_property
    def _is_collection(self) -> bool:
        """Return True if the carrier is several tensors under one name, not one tensor with several
        rows and not the parts of one tensor.
        """
        if self._is_parted:
            return False
        kinds = ("dict", "OrderedDict", "list", "tuple")
        through = self._through
        if through is not None and any(
            isinstance(node, ast.List | ast.Tuple | ast.Dict) and mentions(node, self.name)
            for node in walk(through.over)
        ):
            return True
        holders = [h for edge in self.reuse.stale_edges for h in edge.holders]
        return any(base(h.path) == self.name and h.container.startswith(kinds) for h in holders)

    @cached_property
    def _is_parted(self) -> bool:
        """Return True if everything carried came from one operation that splits a tensor."""
        stale_edges = self.reuse.stale_edges
        return bool(stale_edges) and all(
            j.old.op.capitalize().startswith(_PARTING) for j in stale_edges
        )

    def _made_per_sample(self, name: str) -> bool:
        """Return True if a name is a list (or vector) of losses, one for each
        part of the carrier.
        """
        if self.shared is None or not self.name:
            return False
        for node in definitions(self.shared.scope, name):
            value = value_of(node) or (node.value if isinstance(node, ast.Expr) else None)
            if isinstance(value, ast.ListComp) and any(
                mentions(generator.iter, self.name) for generator in value.generators
            ):
                return True
            if value is not None and any(
                spelled(inner.value) == self.name for inner in nodes_of(value, ast.Subscript)
            ):
                return True
        return False

    @cached_property
    def each_of_many(self) -> bool:
        """Return True if the failing line runs backward on one loss after the other: of a
        collection, one per output, or one per optimizer.
        """
        through = self._through
        root = backward_root(self.root_call) if self.root_call is not None else None
        if through is None or root is None:
            return False
        gone_through, over = through.names, through.over
        while isinstance(root, ast.Attribute | ast.Subscript) and spelled(root) not in gone_through:
            root = root.value  # `task.value` and `pair[1]` are parts of the loop's variable
        of_outputs = self._is_collection and bool(self.name) and mentions(over, self.name)
        if isinstance(over, ast.Call) and is_call(over, "list.items", "list.values"):
            of_outputs = of_outputs or self.name in gone_through
        stepped = [call.func for call in steps(self.loop)] if self.loop is not None else []
        in_turn = any(names_read(one) & set(gone_through) for one in stepped)
        return self.same_line and (of_outputs or in_turn or spelled(root) in gone_through)

    @cached_property
    def root_was_reached(self) -> bool:
        """Return True if the failing loss is itself a node that the freeing call reached."""
        stale_edges = self.reuse.stale_edges
        return bool(stale_edges) and all(
            j.new is None and j.shape in ((), (1,)) for j in stale_edges
        )

    @cached_property
    def sums_earlier_roots(self) -> bool:
        """Return True if the failing loss is only a sum of tensors on which backward ran; or, if
        nothing stepped since, one of them scaled.
        """
        stale_edges = self.reuse.stale_edges
        made = SUMMING if self.steps_between else _SCALING
        return bool(stale_edges) and all(
            edge.new is not None
            and edge.new.op.startswith(made)
            and any(self.backward_roots & {h.path, f"-{h.path}"} for h in edge.holders)
            for edge in stale_edges
        )

    @cached_property
    def sums_on(self) -> list[ast.stmt]:
        """Return the statements of one iteration that add to a total after backward ran on it and
        before it runs again, if weights learned from the first call.
        """
        shared, stale_edges = self.shared, self.reuse.stale_edges
        if shared is None or not self.same_iteration or self.reuse.same_root or not stale_edges:
            return []
        names = set(self.reuse.freed.root) & self.root_names
        only_summed = all(
            edge.new is not None
            and is_sum(edge.new.op)
            and any(holder.path in names for holder in edge.holders)
            for edge in stale_edges
        )
        if not only_summed or not self._learned_between:
            return []
        return [
            node
            for node in statements_of(shared.scope)
            if shared.freed_at < position(node) < shared.reached_at
            and names & set(bindings(node))
            and adds_up(node, names.__contains__, shared.scope, self.project)
        ]

    @property
    def _learned_between(self) -> bool:
        """Return True if the shared frame changes weights between the calls."""
        written = updates_by_hand(self.shared.scope) if self.shared else ()
        return self.steps_between or self.perturbed_between or any(map(self._between, written))

    @property
    def perturbed_between(self) -> bool:
        """Return True if weights are moved for the second call only, between the two, as the first
        step of a sharpness-aware optimizer does."""
        first = "torch.optim.Optimizer.first_step"
        return self.shared is not None and any(
            map(self._between, calls_of(self.shared.scope, first))
        )

    @property
    def steps_between(self) -> bool:
        """Return True if the shared frame steps an optimizer between the calls."""
        return self.shared is not None and any(map(self._between, steps(self.shared.scope)))

    def _between(self, node: ast.Call | ast.stmt) -> bool:
        shared = self.shared
        return shared is not None and shared.freed_at < position(node) < shared.reached_at

    @cached_property
    def backward_roots(self) -> set[str]:
        """Return the spellings of tensors on which the shared frame calls `backward()`, and of
        those that the freeing call's root is only a sum or a multiple of.
        """
        if self.shared is None:
            return set()
        roots = [backward_root(call) for call in backward_calls(self.shared.scope)]
        where = resolve_location(self.project, self.reuse.freed.at)
        call = where.call(*BACKWARD_CALLS) if where is not None else None
        first = backward_root(call) if call is not None else None
        scaled = {n for n in names_read(first) if sums(first, n)} if first is not None else set()
        return {spelled(r) for r in roots if r is not None} | set(self.reuse.freed.root) | scaled

    @cached_property
    def _inner_loop(self) -> Loop | None:
        return self.shared.loops[0] if self.shared is not None and self.shared.loops else None

    @cached_property
    def _through(self) -> Iterated | None:
        """Return what the innermost loop around both calls iterates over."""
        if self._inner_loop is None or self.shared is None:
            return None
        return iterated(self._inner_loop, self.shared.scope)

    @cached_property
    def steps_inside(self) -> bool:
        """Return True if the loop between the calls also steps an optimizer, or weights by hand."""
        return self.loop is not None and bool(steps(self.loop) or self.steps_by_hand)

    @cached_property
    def steps_by_hand(self) -> list[set[str]]:
        """Return the names of what the loop, or a function that it calls, updates by hand."""
        return updates_in(self.project, self.loop) if self.loop is not None else []

    @cached_property
    def from_grad(self) -> bool:
        """Return True if `autograd.grad` freed the graph."""
        return self.reuse.freed.kind == "grad"

    @cached_property
    def grads_of_several(self) -> bool:
        """Return True if the same `autograd.grad` call ran again for another loss."""
        freed, reached = self.reuse.freed, self.reuse.reached
        return freed.kind == reached.kind == "grad" and freed.at == reached.at

    @cached_property
    def in_closure(self) -> bool:
        """Return True if an optimizer called the function that runs backward."""
        return (
            any(map(_OPTIMIZER.search, self.reuse.reached.library)) and self.root_call is not None
        )
