"""The sums within a loss that have terms without a graph, and derivatives that got none."""

from __future__ import annotations

from collections.abc import Iterator, Sequence

import torch

from ..core.engine import Call
from ..core.frames import Json
from ..core.graph import Node, op_name, walk
from ..core.loss_terms import parts_of
from ..core.parameters import KnownParameter, ParameterRegistry
from ..recorders.graph_ends import ended_in

TERMS = 64  # of a loss
LOOKS, NODES = 64, 2000  # at derivatives, and of the graph of each
SUMS = frozenset({"AddBackward0", "SubBackward0"})
WEIGHED = "MulBackward0"
_SCALED = frozenset({WEIGHED, "DivBackward0"})
_COLLECTED = ("Stack", "Cat")
_LINEAR = ("NegBackward", "MeanBackward", "SumBackward")  # a sum within is one of the loss


def constant_terms(root: Node) -> Iterator[Node]:
    """Yield the sums within a loss of which one side has no graph.

    Where that is a derivative, the sum may be any value that the loss is computed from without a
    layer: the residual of an equation.
    """
    pending = [(root, True)]
    for _ in range(TERMS):
        if not pending:
            return
        node, is_term = pending.pop()
        below = [one for one, _ in node.next_functions]
        graphs, name = [one for one in below if one is not None], op_name(node)
        collected = _collected(node) if is_term else None
        if name in SUMS and None in below and (is_term or _is_with_derivative(node)):
            yield node
        if collected is not None:
            yield collected
        scaled = name in _SCALED and None in below
        if is_term and (name in SUMS or scaled or name.startswith(_LINEAR)):
            pending += [(one, True) for one in graphs]
        elif name in SUMS or len(graphs) == 1:
            pending[:0] = [(one, False) for one in graphs]


def _collected(node: Node) -> Node | None:
    """Return the stack of numbers that a total is made of, if one of them has no graph."""
    below = node.next_functions[0][0] if parts_of(node) and node.next_functions else None
    if below is None or not op_name(below).startswith(_COLLECTED):
        return None
    return below if any(one is None for one, _ in below.next_functions) else None


def _is_with_derivative(node: Node) -> bool:
    ended = ended_in(node.metadata)
    return ended is not None and ended.derived


class UnrecordedDerivatives:
    """Notes the lines that compute a derivative of what is trained by what is not, and give it no
    graph: a term of a loss that is made of it trains nothing."""

    def __init__(self, parameters: ParameterRegistry) -> None:
        self._parameters = parameters
        self._lines: dict[tuple[str, int], tuple[Json, set[int]]] = {}
        self._looks = LOOKS

    def after(self, call: Call) -> None:
        """Look at what a call of `autograd.grad` was asked for."""
        at = call.record()["at"]
        if call.create_graph or not self._looks or (at["file"], at["line"]) in self._lines:
            return
        self._looks -= 1
        leaves = [leaf.variable for _, leaf in walk(call.roots, NODES).leaves]
        if any(map(self._is_trained, leaves)) and not any(map(self._is_trained, call.inputs)):
            known = filter(None, map(self._known, leaves))
            self._lines[at["file"], at["line"]] = at, {one.id for one in known}

    def _is_trained(self, leaf: object) -> bool:
        known = self._known(leaf)
        return known is not None and known.optimizer is not None

    def _known(self, leaf: object) -> KnownParameter | None:
        return self._parameters.find(leaf) if isinstance(leaf, torch.Tensor) else None

    def lines(self) -> Iterator[Json]:
        """Yield these lines."""
        yield from (at for at, _ in self._lines.values())

    def line_of(self, parameters: Sequence[KnownParameter]) -> Json | None:
        """Return such a line that all of these parameters lead to, or None."""
        wanted = {one.id for one in parameters}
        return next((at for at, leaves in self._lines.values() if wanted <= leaves), None)
