"""Tells of every backward: how much it walked, how far back, what it gave gradients to."""

from __future__ import annotations

from typing import Any

from .emitter import Emitter
from .engine import Call, Observer
from .frames import Json
from .parameters import Parameters
from .sampling import sampled
from .stamps import Clock, Stamps


class VisitWatch(Observer):
    """Emits a `backward` record a call, all at first, a sample later, the failing one always."""

    def __init__(self, emitter: Emitter, stamps: Stamps, parameters: Parameters) -> None:
        self._emitter = emitter
        self._stamps = stamps
        self._parameters = parameters

    def after(self, call: Call) -> None:
        """Find who received a gradient; record the call, if it is one of the sample."""
        leaves = {id(leaf): leaf.variable for _, leaf in call.walk.leaves}
        call.received = self._parameters.meet(list(leaves.values()), call.frame)
        for known in call.received:
            known.receipts += 1
        if sampled(call.n):
            self._parameters.tell()
            self._emit(call, "ok")

    def failed(self, call: Call, error: Exception) -> None:
        """Record the call; who received what is unknown."""
        self._emit(call, "raised")

    def _emit(self, call: Call, outcome: str) -> None:
        begun = call.n - 1
        oldest = self._stamps.oldest(call.walk.nodes)
        self._emitter.emit(
            {
                "t": "backward",
                "visit": call.record(),
                "outcome": outcome,
                "nodes": len(call.walk.nodes),
                "reach": max(begun - oldest, 0) if oldest is not None else 0,
                "received": sorted({known.id for known in call.received}),
                "stale": self._stale(call)[:16],
            }
        )

    def _stale(self, call: Call) -> list[Json]:
        """Parameters that a step changed after the graph walked now had used them."""
        found: dict[int, Json] = {}
        for consumer, leaf in call.walk.leaves:
            known = self._parameters.find(leaf.variable)
            stamp: Any = self._stamps.of(consumer)
            if known is None or stamp is None or stamp.steps >= known.changed_by:
                continue
            found.setdefault(
                known.id,
                {"param": known.id, "made_at": stamp.at, "changed_by": known.changed_by},
            )
        return list(found.values()) if Clock.steps else []
