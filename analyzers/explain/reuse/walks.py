"""What the two walks of a reused graph are: which tensors, from which calls, one by one."""

from __future__ import annotations

import ast
import re
from functools import cached_property

from analyzers.explain.reuse.keeping import adds_up, sums
from analyzers.explain.reuse.lifetimes import Lifetime, base
from analyzers.explain.reuse.stepping import Update, updates_in
from analyzers.explain.spots import spot
from analyzers.source.calls import calls_named, steps, updates_by_hand
from analyzers.source.flow import (
    WALKS,
    backward_calls,
    bindings,
    called_name,
    definitions,
    mentions,
    names_read,
    statements_of,
    value_of,
    walked,
)
from analyzers.source.passes import Passes, passes
from analyzers.source.project import Loop, Scope, spelled
from analyzers.source.trees import position, walk

SUMMING = ("Add", "Stack", "Cat", "Sum", "Mean")
_PARTING = ("Split", "Unbind", "Chunk", "Unsafesplit", "Unsafechunk")
_OPTIMIZER = re.compile(r"optim(?:izer)?s?(?:/|\.py)")  # a file of those, not of `optimization`
_SCALING = ("Mul", "Div", "Neg", *SUMMING)


def is_sum(op: str) -> bool:
    """Whether an operation, by its node's name or as reading tells it, makes one of several."""
    return op.capitalize().startswith(SUMMING)


class Walks(Lifetime):
    """The two calls, and what they walk."""

    @cached_property
    def name(self) -> str:
        """The first carrier's name; empty when the tensor had none."""
        return self.carriers[0].name if self.carriers else ""

    @cached_property
    def attribute(self) -> str:
        """The last part of an attribute path (`hidden` for `self.model.hidden`)."""
        return self.name.rpartition(".")[2] if "." in self.name else ""

    @cached_property
    def root_call(self) -> ast.Call | None:
        """The failing `backward` or `grad` call in the source."""
        where = spot(self.project, self.reuse.reached.at)
        return where.call(*WALKS) if where is not None else None

    @cached_property
    def root_names(self) -> set[str]:
        """Names of the tensor that the failing call walked."""
        names = {name.partition("[")[0] for name in self.reuse.reached.root}
        walked_tensor = walked(self.root_call) if self.root_call is not None else None
        if walked_tensor is not None:
            names.add(spelled(walked_tensor))
        return names

    @cached_property
    def sliced(self) -> bool:
        """Whether each pass walks one sample, step or slice of the carrier."""
        if self._inner_loop is None or self._is_collection:
            return False
        return any(self._slices(*one) for one in self.handing_on(self._inner_loop))

    def _slices(self, loop: Loop, scope: Scope) -> bool:
        """Whether each pass of a loop takes its part of the carrier."""
        through = passes(loop, scope)
        if through is None:
            return False
        over = through.over
        keyed = isinstance(over, ast.Call) and called_name(over) in ("items", "values")
        if keyed:
            return False
        if self.name and mentions(over, self.name):
            return True
        if any(self._made_per_sample(name) for name in names_read(over)):
            return True
        if self._walks_next_of(names_read(over)):
            return True
        return any(
            isinstance(node, ast.Subscript)
            and self.name
            and spelled(node.value) == self.name
            and names_read(node.slice) & through.names
            for node in walk(loop)
        )

    def _walks_next_of(self, names: set[str]) -> bool:
        """Whether what is walked now lay in one of these collections as the pass before walked
        another entry of it: all are of one forward."""
        freed, reached = self.reuse.freed, self.reuse.reached
        if freed.at != reached.at or reached.iteration != freed.iteration + 1:
            return False
        held = [h.path for join in self.reuse.joins for h in join.holders if h.when == "freed"]
        return any("[" in path and base(path) in names for path in held)

    @cached_property
    def _is_collection(self) -> bool:
        """Whether the carrier is several tensors under one name, not one with several rows, nor the
        parts that one was taken apart into."""
        if self._is_parted:
            return False
        kinds = ("dict", "OrderedDict", "list", "tuple")
        through = self._through
        if through is not None and any(
            isinstance(node, ast.List | ast.Tuple | ast.Dict) and mentions(node, self.name)
            for node in walk(through.over)
        ):
            return True
        holders = [h for join in self.reuse.joins for h in join.holders]
        return any(base(h.path) == self.name and h.container.startswith(kinds) for h in holders)

    @cached_property
    def _is_parted(self) -> bool:
        """Whether all that is carried came out of one step that takes a tensor apart."""
        joins = self.reuse.joins
        return bool(joins) and all(j.old.op.capitalize().startswith(_PARTING) for j in joins)

    def _made_per_sample(self, name: str) -> bool:
        """Whether a name is a list (or vector) of losses, one for each part of the carrier."""
        if self.shared is None or not self.name:
            return False
        for node in definitions(self.shared.scope, name):
            value = value_of(node) or (node.value if isinstance(node, ast.Expr) else None)
            if isinstance(value, ast.ListComp) and any(
                mentions(generator.iter, self.name) for generator in value.generators
            ):
                return True
            if value is not None and any(
                isinstance(inner, ast.Subscript) and spelled(inner.value) == self.name
                for inner in walk(value)
            ):
                return True
        return False

    @cached_property
    def each_of_many(self) -> bool:
        """Whether the failing line walks one after the other of a collection of losses, a loss for
        each of a collection of outputs, or one for each of several optimizers."""
        through = self._through
        root = walked(self.root_call) if self.root_call is not None else None
        if through is None or root is None:
            return False
        gone_through, over = through.names, through.over
        while isinstance(root, ast.Attribute | ast.Subscript) and spelled(root) not in gone_through:
            root = root.value  # `task.value` and `pair[1]` are parts of what the loop goes through
        of_outputs = self._is_collection and bool(self.name) and mentions(over, self.name)
        if isinstance(over, ast.Call) and called_name(over) in ("items", "values"):
            of_outputs = of_outputs or self.name in gone_through
        stepped = [call.func for call in steps(self.loop)] if self.loop is not None else []
        in_turn = any(names_read(one) & set(gone_through) for one in stepped)
        return self.same_line and (of_outputs or in_turn or spelled(root) in gone_through)

    @cached_property
    def walked_within(self) -> bool:
        """Whether the failing loss is itself a node that the freeing call walked."""
        joins = self.reuse.joins
        return bool(joins) and all(j.new is None and j.shape in ((), (1,)) for j in joins)

    @cached_property
    def sums_walked(self) -> bool:
        """Whether the failing loss is only a sum of tensors that were walked themselves; or, where
        nothing stepped since, one of them scaled."""
        joins = self.reuse.joins
        made = SUMMING if self.steps_between else _SCALING
        return bool(joins) and all(
            join.new is not None
            and join.new.op.startswith(made)
            and any(holder.path in self.walked_roots for holder in join.holders)
            for join in joins
        )

    @cached_property
    def sums_on(self) -> list[ast.stmt]:
        """The statements of one pass that add to a total which was walked before, and which is
        walked again behind them: where weights learned from the first walk."""
        shared, joins = self.shared, self.reuse.joins
        if shared is None or not self.same_pass or self.reuse.same_root or not joins:
            return []
        names = set(self.reuse.freed.root) & self.root_names
        only_summed = all(
            join.new is not None
            and is_sum(join.new.op)
            and any(holder.path in names for holder in join.holders)
            for join in joins
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
        """Whether the frame that both calls share changes weights between them, be it only to come
        back to them (`first_step`)."""
        shared = self.shared
        if shared is None:
            return False
        scope = shared.scope
        changing: list[ast.Call | ast.stmt] = [
            *calls_named(scope, "first_step"),
            *updates_by_hand(scope),
        ]
        return self.steps_between or any(
            shared.freed_at < position(node) < shared.reached_at for node in changing
        )

    @property
    def steps_between(self) -> bool:
        """Whether the frame that both calls share steps an optimizer between them."""
        shared = self.shared
        return shared is not None and any(
            shared.freed_at < position(call) < shared.reached_at for call in steps(shared.scope)
        )

    @cached_property
    def walked_roots(self) -> set[str]:
        """Spellings of tensors that a `backward()` statement of the shared frame walks, and of what
        the freeing call's root is only a sum or a multiple of."""
        if self.shared is None:
            return set()
        roots = [walked(call) for call in backward_calls(self.shared.scope)]
        where = spot(self.project, self.reuse.freed.at)
        call = where.call(*WALKS) if where is not None else None
        first = walked(call) if call is not None else None
        scaled = {n for n in names_read(first) if sums(first, n)} if first is not None else set()
        return {spelled(r) for r in roots if r is not None} | set(self.reuse.freed.root) | scaled

    @cached_property
    def _inner_loop(self) -> Loop | None:
        return self.shared.loops[0] if self.shared is not None and self.shared.loops else None

    @cached_property
    def _through(self) -> Passes | None:
        """What the innermost loop around both calls goes through."""
        if self._inner_loop is None or self.shared is None:
            return None
        return passes(self._inner_loop, self.shared.scope)

    @cached_property
    def steps_inside(self) -> bool:
        """Whether the loop between the calls also steps an optimizer, or weights by hand."""
        return self.loop is not None and bool(steps(self.loop) or self.steps_by_hand)

    @cached_property
    def steps_by_hand(self) -> list[Update]:
        """The weights that the loop, or a function that it calls, steps by hand."""
        return updates_in(self.project, self.loop) if self.loop is not None else []

    @cached_property
    def from_grad(self) -> bool:
        """Whether `autograd.grad` freed the graph."""
        return self.reuse.freed.kind == "grad"

    @cached_property
    def grads_of_several(self) -> bool:
        """Whether the same call of `autograd.grad` is made again, of another loss."""
        freed, reached = self.reuse.freed, self.reuse.reached
        return freed.kind == reached.kind == "grad" and freed.at == reached.at

    @cached_property
    def in_closure(self) -> bool:
        """Whether an optimizer called the function that walks the graph."""
        return (
            any(map(_OPTIMIZER.search, self.reuse.reached.library)) and self.root_call is not None
        )
