"""Compares the gradients in a hand-written engine's graph with numerical ones.

The gradient of an input is the sum, over the operations that use it, of their results' gradients
times the operations' slopes. Where the engine holds another one, that counts as a fault only if
leaves differ from the slope of the whole graph, too: an operation may leave a factor to the next.
"""

from __future__ import annotations

import contextlib
from collections.abc import Sequence
from typing import Any

from ..core.frames import Json, file_name
from ..core.value_parts import attributes
from .graph_slopes import GraphSlopes, UnknownSlopeError, entries_of, is_nonzero, number_at, same
from .operation_log import ComputedNode, OperationLog
from .operation_uses import ComparedInput, Kind, OperationUse, OperationUses
from .single_operation import SingleOperation

LEAVES = 12  # whose gradients are compared with the slope of the whole graph


class GraphComparison:
    """The comparison of what a log holds, from its `root`; `gradient` is the attribute in which
    gradients lie."""

    def __init__(
        self, log: OperationLog, root: ComputedNode, gradient: str, slopes: GraphSlopes
    ) -> None:
        self._log = log
        self._root = root
        self._gradient = gradient
        self._slopes = slopes
        self._uses = OperationUses(log.nodes, slopes, gradient)
        self._inputs = self._uses.inputs()
        self._alone = SingleOperation(self._uses, root, gradient, log.walker)

    def found(self) -> Json | None:
        """Return the record of a wrong gradient; None if none is known to be."""
        bad, seeded = self._bad(), is_nonzero(self._root.after.get(self._gradient, 0.0))
        shown = self._wrong_leaf(bad) if bad or not seeded else None
        if shown is None:
            return None
        fault = self._fault(bad) if seeded else self._at_walker("seed")
        if fault is None:
            return None
        return {"figures": shown[0], "leaf": shown[1], "gradient": self._gradient, **fault}

    # Which gradients differ

    def _bad(self) -> list[ComparedInput]:
        """Return the inputs whose gradients differ; none whose operation always differs by one
        positive factor (half of a squared error), or lets gradients through where it is at a
        limit, and none where the engine limits gradients."""
        factors: dict[Kind, list[float]] = {}
        for one in self._inputs.values():
            if (use := one.only_use) is not None:
                pairs = zip(one.wanted, one.held, strict=True)
                found = [held / wanted if wanted else 0.0 for wanted, held in pairs if held]
                factors.setdefault(use.kind, []).extend(found)
        scaled = {kind for kind, of in factors.items() if of and self._is_constant(of)}
        bad = [
            one
            for one in self._inputs.values()
            if not self._is_right(one)
            and not self._agree(one.passed, one.held)
            and not ((use := one.only_use) and use.kind in scaled)
        ]
        return bad if not self._are_limited(bad) else []

    def _are_limited(self, bad: Sequence[ComparedInput]) -> bool:
        """Return True if the engine limits gradients: each that differs is as large as the others,
        smaller than it should be, and not what one of several uses adds."""
        if any(self._agree(use.shares, one.held) for one in bad for use in one.uses):
            return False
        pairs = [pair for one in bad for pair in zip(one.wanted, one.held, strict=True)]
        differing = [pair for pair in pairs if not self._slopes.agree(*pair)]
        largest = {round(abs(held), 9) for _, held in differing}
        several = len(differing) > 1 and len(largest) == 1
        return several and all(abs(w) > abs(held) > 0 for w, held in differing)

    def _is_constant(self, factors: Sequence[float]) -> bool:
        return all(one > 0 and self._slopes.agree(one, factors[0]) for one in factors)

    def _is_right(self, one: ComparedInput) -> bool:
        scale = max((abs(share) for use in one.uses for share in use.shares), default=0.0)
        return self._agree(one.wanted, one.held, scale)

    def _agree(self, wanted: Sequence[float], held: Sequence[float], scale: float = 1.0) -> bool:
        return all(self._slopes.agree(*pair, scale) for pair in zip(wanted, held, strict=True))

    # The whole graph

    def _wrong_leaf(self, bad: Sequence[ComparedInput]) -> tuple[list[float], Any] | None:
        """Return the slope of the whole graph at a leaf and the gradient that it holds, with the
        leaf, if they differ; None if all leaves hold the same positive multiple of it, which is a
        matter of the learning rate."""
        value, wrong = self._slopes.value, {id(one.node.instance) for one in bad}
        leaves = [node for node in self._log.nodes if not node.parents]
        leaves.sort(key=lambda node: id(node.instance) not in wrong)
        pairs: list[tuple[float, float, Any]] = []
        for leaf in leaves[:LEAVES]:
            given = leaf.after.get(self._gradient)
            if given is None or _size(given) != _size(leaf.before[value]) or _is_off(leaf, given):
                continue
            with contextlib.suppress(UnknownSlopeError):
                entry = entries_of(leaf, value, self._gradient)[0]
                slope = self._whole_slope(leaf, entry)
                pairs.append((slope, number_at(given, entry), leaf.instance))
        agree = self._slopes.agree
        differing = [pair for pair in pairs if not agree(*pair[:2])]
        if not differing:
            return None
        slope, held, leaf_shown = differing[0]
        factor = held / slope if slope else 0.0
        if factor > 0 and len(pairs) > 1 and all(agree(one * factor, two) for one, two, _ in pairs):
            return None
        return [slope, held or 0.0], leaf_shown  # not -0.0

    def _whole_slope(self, leaf: ComputedNode, entry: tuple[int, ...]) -> float:
        slopes, value = self._slopes, self._root.before[self._slopes.value]
        step = slopes.step(leaf, entry)
        around = [self._whole(slopes.twin(leaf, entry, by), leaf) for by in (-step, 0.0, step)]
        if not same(around[1], number_at(value, _first(value))):
            raise UnknownSlopeError
        return slopes.slope(around, step)

    def _whole(self, twin: Any, leaf: ComputedNode) -> float:
        """Return the value of the root if a twin takes the place of a leaf."""
        made = {id(leaf.instance): twin}
        for node in self._log.nodes:
            if node.parents:
                made[id(node.instance)] = self._slopes.result(node, made)
            elif node is not leaf:
                made[id(node.instance)] = self._slopes.twin(node)
        value = getattr(made[id(self._root.instance)], self._slopes.value)
        return number_at(value, _first(value))

    # Who is at fault

    def _fault(self, bad: Sequence[ComparedInput]) -> Json | None:
        """Return what is wrong, and where: a derivative (`derivative`), a gradient that is replaced
        in place of being added to (`overwritten`), or the order of visits (`order`). That can be
        where several paths lead to the root, or an input gets nothing of an operation that alone
        gives it the right gradient. Return None if it cannot be known.
        """
        clean = self._clean()
        works = any(  # below a node that several operations use
            use is not None
            and id(use.node.instance) not in clean
            and any(one.held)
            and self._is_right(one)
            for one, use in ((one, one.only_use) for one in self._inputs.values())
        )
        for one in bad:
            use = one.uses[0]
            if len(one.uses) == 1 and (works or id(use.node.instance) in clean):
                if not any(one.held) and self._alone.gives_right_gradient(use, one):
                    return self._at_walker("order")
                partly = use.partly is not None and self._agree(use.partly, one.held)
                return self._at(use, "overwritten" if partly else "derivative")
        for one in bad:
            for use in one.uses:
                if self._agree(use.shares, one.held):
                    return self._at(use, "overwritten")
        below = any(id(use.node.instance) not in clean for one in bad for use in one.uses)
        return self._at_walker("order") if below and not works else None

    def _clean(self) -> set[int]:
        """Return the nodes from which a single path leads to the root."""
        users: dict[int, list[int]] = {}
        for node in self._log.nodes:
            for parent in node.parents:
                users.setdefault(id(parent), []).append(id(node.instance))
        clean = {id(self._root.instance)}
        for key in (id(node.instance) for node in reversed(self._log.nodes)):
            one = self._inputs.get(key)
            once = one is None or one.only_use is not None
            if once and len(users.get(key, ())) == 1 and users[key][0] in clean:
                clean.add(key)
        return clean

    def _at(self, use: OperationUse, what: str) -> Json:
        code = use.call.code
        at = {"file": file_name(code.co_filename), "line": code.co_firstlineno}
        name = use.call.function.__qualname__
        return {"at": at, "function": name, "input": use.arguments[-1], "detail": what}

    def _at_walker(self, what: str) -> Json:
        code = self._log.walker.__code__
        at = {"file": file_name(code.co_filename), "line": code.co_firstlineno}
        return {"at": at, "function": self._log.walker.__qualname__, "input": "", "detail": what}


def _is_off(leaf: ComputedNode, given: Any) -> bool:
    """Return True if a leaf holds no gradient, and something that is False: it may want none."""
    return not is_nonzero(given) and any(held is False for _, held in attributes(leaf.instance))


def _size(value: Any) -> int:
    return int(getattr(value, "size", 1))


def _first(value: Any) -> tuple[int, ...]:
    return (0,) * len(getattr(value, "shape", ()))
