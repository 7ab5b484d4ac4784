"""The uses of each node of a hand-written engine's graph, and what each adds to its gradient."""

from __future__ import annotations

from collections.abc import Iterator, Mapping, Sequence
from contextlib import suppress
from dataclasses import dataclass, field
from typing import Any

from .graph_slopes import GraphSlopes, UnknownSlopeError, entries_of, number_at, same, weighted
from .operation_log import ComputedNode, OperationCall

Kind = tuple[int, tuple[str, ...]]  # of uses: what the operation runs, under which arguments


@dataclass(slots=True)
class OperationUse:
    """An operation's use of an input: under which arguments it got it, and what it adds to the
    gradient of each entry that is moved.

    `passed`: the same, if it lets the gradient through where it is flat at another value than zero
    (a limit). `partly`: what it adds if the input is moved under the last of several arguments
    alone.
    """

    node: ComputedNode
    call: OperationCall
    arguments: list[str]
    shares: list[float]
    passed: list[float]
    partly: list[float] | None = None

    @property
    def kind(self) -> Kind:
        """Return what such uses have in common."""
        return id(self.call.code), tuple(self.arguments)


@dataclass(slots=True)
class ComparedInput:
    """A node whose gradient is compared: in these entries the engine `held` one."""

    node: ComputedNode
    held: list[float]
    entries: list[tuple[int, ...]]
    uses: list[OperationUse] = field(default_factory=list)

    @property
    def wanted(self) -> list[float]:
        """Return the sums of what its uses add."""
        return [sum(shares) for shares in zip(*(use.shares for use in self.uses), strict=True)]

    @property
    def passed(self) -> list[float]:
        """Return these sums, if its uses let gradients through."""
        return [sum(shares) for shares in zip(*(use.passed for use in self.uses), strict=True)]

    @property
    def only_use(self) -> OperationUse | None:
        """Return its use, if there is one, under one argument."""
        once = len(self.uses) == 1 and len(self.uses[0].arguments) == 1
        return self.uses[0] if once else None


class OperationUses:
    """Finds the uses of the nodes of a graph, whose gradients lie in the attribute `gradient`."""

    def __init__(self, nodes: Sequence[ComputedNode], slopes: GraphSlopes, gradient: str) -> None:
        self._nodes = nodes
        self.known = {id(node.instance): node for node in nodes}
        self.slopes = slopes
        self._gradient = gradient

    def inputs(self) -> dict[int, ComparedInput]:
        """Return the inputs all of whose uses are known, by their instances' ids; none of an
        operation that never has a slope: a rounding, or a step, lets gradients through on purpose.
        """
        users: dict[int, list[ComputedNode]] = {}
        for node in self._nodes:
            for parent in {id(parent) for parent in node.parents}:
                users.setdefault(parent, []).append(node)
        found = [one for key, used_by in users.items() for one in self._compared(key, used_by)]
        flat: dict[Kind, bool] = {}
        for use in (use for one in found for use in one.uses):
            flat[use.kind] = flat.get(use.kind, True) and not any(use.shares)
        return {
            id(one.node.instance): one
            for one in found
            if not any(flat[use.kind] for use in one.uses)
        }

    def _compared(self, key: int, used_by: Sequence[ComputedNode]) -> Iterator[ComparedInput]:
        node = self.known[key]
        given, value = node.after.get(self._gradient), node.before[self.slopes.value]
        if given is None or getattr(given, "size", 1) != getattr(value, "size", 1):
            return
        with suppress(UnknownSlopeError, LookupError, TypeError, ValueError):
            entries = entries_of(node, self.slopes.value, self._gradient)
            one = ComparedInput(node, [number_at(given, entry) for entry in entries], entries)
            one.uses = [self._use(user, one) for user in used_by]
            yield one

    def _use(self, node: ComputedNode, one: ComparedInput) -> OperationUse:
        slopes, call = self.slopes, self.slopes.call_of(node)
        twins = {id(p): slopes.twin(self.known[id(p)]) for p in node.parents}
        base = slopes.numbers(node, twins)
        if not same(base, node.before[slopes.value]):
            raise UnknownSlopeError
        if len(twins) == 1 and same(base, one.node.before[slopes.value]):
            raise UnknownSlopeError  # it passes its input on: what it does is its gradient
        names = [name for name, held in call.arguments.items() if held is one.node.instance]
        shares = self.shares(node, one, twins)
        use = OperationUse(node, call, names or [""], shares, list(self._passed(node, one, shares)))
        if len(names) > 1:
            use.partly = self.shares(node, one, twins, names[-1])
        return use

    def _passed(
        self, node: ComputedNode, one: ComparedInput, shares: Sequence[float]
    ) -> Iterator[float]:
        given, made = node.after[self._gradient], node.before[self.slopes.value]
        like = getattr(one.node.before[self.slopes.value], "shape", ())
        alike = like == getattr(given, "shape", ()) == getattr(made, "shape", ())
        for entry, share in zip(one.entries, shares, strict=True):
            through = alike and not share and number_at(made, entry)
            yield number_at(given, entry) if through else share

    def shares(
        self, node: ComputedNode, one: ComparedInput, twins: Mapping[int, Any], under: str = ""
    ) -> list[float]:
        """Return the slopes of a node in entries of an input, weighted by the node's gradient; if
        the input is moved `under` one argument alone."""
        slopes, given = self.slopes, node.after[self._gradient]
        shares = []
        for entry in one.entries:
            step, around = slopes.step(one.node, entry), []
            for by in (-step, 0.0, step):
                moved = {**twins, id(one.node.instance): slopes.twin(one.node, entry, by)}
                exchanged = (twins, {under: moved}) if under else (moved, None)
                around.append(weighted(slopes.numbers(node, *exchanged), given))
            shares.append(slopes.slope(around, step))
        return shares
