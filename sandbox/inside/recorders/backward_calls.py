"""Records every backward call: how much it reached, how far back, which gradients it computed."""

from __future__ import annotations

from itertools import zip_longest
from math import isfinite
from typing import Any

import torch

from ..core.clock import CLOCK
from ..core.emitter import Emitter
from ..core.engine import Call, Observer
from ..core.frames import Json
from ..core.graph import roots_of
from ..core.loss_terms import LIMIT, parts_of, terms_of
from ..core.parameters import ParameterRegistry
from ..core.retained_size import LOOKS, PASSES, kept_nodes
from ..core.sampling import sampled
from ..core.stamps import Stamps
from .graph_ends import REACHED
from .hand_writes import HandWrites

GRADIENT_OF = "gradient_of"  # metadata: the number of the call that returned the node's value


class BackwardRecorder(Observer):
    """Emits a `backward` record a call, all at first, later some of those that are looked at
    closely, and the failing one always."""

    watches = "backward calls"

    def __init__(
        self,
        emitter: Emitter,
        stamps: Stamps,
        parameters: ParameterRegistry,
        *,
        values: bool,
        by_hand: HandWrites | None = None,
    ) -> None:
        self._emitter = emitter
        self._stamps = stamps
        self._parameters = parameters
        self._values = values
        self._by_hand = by_hand
        self._rewritten: list[int] = []
        self._loss: float | None = None
        self._repeated = False
        self._new_terms = 0
        self._kept: int | None = None
        self._changed: dict[int, int] = {}  # by which step each parameter was, as the call began
        self._with_graph: list[int] = []  # calls that returned gradients with a graph, the latest
        self._most = 0
        self._looks = 0

    def before(self, call: Call) -> None:
        """Read the root, with `values`; see whether it was a root before."""
        self._new_terms = 0
        if self._values and call.kind == "backward":
            self._new_terms = terms_of(call.roots, lambda node: bool(node.metadata.get(REACHED)))
        self._repeated = bool(call.roots) and all(_was_reached(n) for n, _ in call.roots)
        self._changed = {known.id: known.changed_by for known in self._parameters.known}
        self._rewritten = self._by_hand.before(call) if self._by_hand is not None else []
        self._kept = None
        if self._values and call.iteration in PASSES and self._looks < LOOKS:
            self._looks += 1
            self._kept = self._most = kept_nodes(call.iteration, self._most)
        self._loss = loss_of(call) if self._values and call.kind == "backward" else None

    def after(self, call: Call) -> None:
        """Find who received a gradient; record the call, if it is one of the sample."""
        self._receive(call)
        for node in call.walk.nodes if self._values and call.kind == "backward" else ():
            node.metadata[REACHED] = CLOCK.steps + 1
        made = self._values and call.create_graph and call.kind == "grad"
        through = self._through(call) if self._with_graph else []
        has_graph = made and self._note_gradients(call)
        self.glances = any(known.is_unfed for known in self._parameters.known)
        if sampled(call.n):
            self._parameters.tell()
            self._emit(call, "ok", {"has_graph": has_graph, "through": through})

    def _note_gradients(self, call: Call) -> bool:
        """Mark the nodes of the gradients that the call returned; return True if there are any."""
        nodes = [node for node, _ in roots_of(call.result or ())]
        for node in nodes:
            node.metadata[GRADIENT_OF] = call.n
        if nodes:
            self._with_graph = [*self._with_graph[-63:], call.n]
        return bool(nodes)

    def _through(self, call: Call) -> list[int]:
        """Return the earlier calls whose gradients this one differentiates."""
        known = (node.metadata.get(GRADIENT_OF) for node in call.walk.nodes)
        return sorted({n for n in known if n is not None})[-64:]

    def _receive(self, call: Call) -> None:
        leaves: dict[int, Any] = {}
        for consumer, leaf in call.walk.leaves:
            if _was_given(call, leaf):
                leaves[id(leaf)] = leaf.variable
            else:
                self._withhold(consumer, leaf)
        call.received = self._parameters.meet(list(leaves.values()), call.frame)
        for known in call.received:
            known.receive(CLOCK.steps)

    def glanced(self, call: Call) -> None:
        """Look only for who was not given anything yet."""
        self._receive(call)
        self.glances = any(known.is_unfed for known in self._parameters.known)

    def _withhold(self, consumer: Any, leaf: Any) -> None:
        """Note the line of the node that handed a parameter None."""
        known = self._parameters.find(leaf.variable)
        stamp: Any = self._stamps.of(consumer) if known is not None else None
        if known is not None and stamp is not None:
            known.withheld = known.withheld or stamp.at

    def failed(self, call: Call, error: Exception) -> None:
        """Record the call; who received what is unknown."""
        self._emit(call, "raised", {"through": self._through(call) if self._with_graph else []})

    def _emit(self, call: Call, outcome: str, derived: Json | None = None) -> None:
        begun = call.n - 1
        oldest = self._stamps.oldest(call.walk.nodes)
        self._emitter.emit(
            {
                "t": "backward",
                "call": call.record(),
                "outcome": outcome,
                "nodes": len(call.walk.nodes),
                "reach": max(begun - oldest, 0) if oldest is not None else 0,
                "received": sorted({known.id for known in call.received}),
                "stale": self._stale(call)[:16],
                "loss": self._loss,
                "repeated": self._repeated,
                "kept": self._kept,
                "terms": terms_of(call.roots) if self._values else 0,
                "new_terms": self._new_terms,
                **(derived or {}),
            }
        )

    def _stale(self, call: Call) -> list[Json]:
        """Return parameters that a step, or the script, changed after the present graph had used
        them.

        A step of a hook in this call is none.
        """
        found: dict[int, Json] = {}
        for consumer, leaf in call.walk.leaves:
            known = self._parameters.find(leaf.variable)
            stamp: Any = self._stamps.of(consumer)
            changed_by = self._changed.get(known.id, 0) if known is not None else 0
            if known is None or stamp is None or stamp.steps >= changed_by:
                continue
            found.setdefault(known.id, {"param": known.id})
        stepped = list(found.values()) if CLOCK.steps else []
        return [*stepped, *({"param": n, "by_hand": True} for n in self._rewritten)]


def _was_given(call: Call, leaf: Any) -> bool:
    """Return True if a leaf that was reached got a gradient: a node may pass on None.

    A hook that waits for gradients may have used this one already.
    """
    variable = leaf.variable
    if call.kind != "backward" or getattr(variable, "_post_accumulate_grad_hooks", None):
        return True
    return variable.grad is not None


def _was_reached(node: Any) -> bool:
    """Return True if an earlier backward call reached this node.

    Since the last step, it is enough that one reached everything that it is the sum or a multiple
    of.
    """
    if node.metadata.get(REACHED):
        return True
    pending = parts_of(node)
    seen = 0
    while pending and seen < LIMIT:
        seen += 1
        part = pending.pop()
        if part.metadata.get(REACHED) != CLOCK.steps + 1:
            below = parts_of(part)
            if not below:
                return False
            pending += below
    return 0 < seen < LIMIT


def loss_of(call: Call) -> float | None:
    """Return the number whose gradient the call computes; None if it is none."""
    total = 0.0
    for output, weight in zip_longest(call.outputs, call.weights):
        if not isinstance(output, torch.Tensor):
            return None
        value = output.detach() if weight is None else output.detach() * weight.detach()
        total += float(value.double().sum())
    return total if isfinite(total) else None
