"""Finds leaves of hand-written engines that the script updates, again and again, by gradients that
nothing clears."""

from __future__ import annotations

from collections.abc import Hashable, Mapping
from contextlib import suppress
from dataclasses import dataclass, field
from typing import Any

import torch

from ..core.emitter import Emitter
from ..core.frames import Json
from ..core.parameters import ParameterRegistry
from .accumulation import WatchedAttribute
from .leaf_steps import flat
from .received_gradients import ReceivedGradients

_Numbers = Mapping[str, Hashable]
CALLS = 64  # within which updates are looked at
ROW = 6  # updates in a row that used what was there before the last backward
DOWNHILL = -0.5  # cosine of what an update changed, and the gradient: others are no updates by it


@dataclass
class Leaf:
    """A leaf as a backward call left it, with the attribute `gradient` that calls add to.

    `norms` of what updates in a row have used and nothing cleared.
    """

    leaf: Any
    gradient: str = ""
    then: _Numbers = field(default_factory=dict)
    norms: list[float] = field(default_factory=list)
    watched: WatchedAttribute | None = None


class UnclearedLeaves:
    """Follows leaves from one backward call to the next.

    One counts when it was moved against its gradient, that was left as it was, and the next call
    has added to it: an engine may as well clear its graph first.
    """

    def __init__(self, emitter: Emitter, parameters: ParameterRegistry) -> None:
        self._emitter = emitter
        self._parameters = parameters
        self._leaves: dict[int, Leaf] = {}
        self._ended = False

    def before(self, received: ReceivedGradients) -> None:
        """Record which leaves' gradients have served an update, before a backward call begins."""
        for known in [] if self._ended else self._leaves.values():
            now = received.numbers(known.leaf)
            kept = known.gradient and now.get(known.gradient) == known.then[known.gradient]
            if kept and _went_down(known.then, now, known.gradient):
                with suppress(AttributeError, TypeError):  # it cannot be exchanged
                    known.watched = WatchedAttribute(known.leaf, known.gradient)
            elif not kept:
                known.norms.clear()

    def after(
        self, backward_call: Json, received: ReceivedGradients, fed: Mapping[int, Any]
    ) -> None:
        """Record what the call has done to them, and report conspicuous ones once.

        `fed`: the leaves it gave something, by their ids.
        """
        if self._ended:
            return
        for number, leaf in fed.items():
            known = self._leaves.get(number)
            if known is None or known.leaf is not leaf:
                known = self._leaves[number] = Leaf(leaf)
            names = received.gradients(leaf)
            if known.watched is not None and known.watched.end():
                known.norms.append(_norm(known.then[known.gradient]))
            elif known.watched is not None:
                known.norms.clear()
            known.watched = None
            known.gradient = min(names) if len(names) == 1 else ""
            known.then = received.numbers(leaf)
        found = [number for number, leaf in self._leaves.items() if len(leaf.norms) >= ROW]
        if found:
            self._tell(backward_call, found)
        self._ended = bool(found) or backward_call["n"] >= CALLS

    def release(self) -> None:
        """Restore what was exchanged, after the call has failed."""
        for known in self._leaves.values():
            if known.watched is not None:
                known.watched.end()
                known.watched = None

    def _tell(self, backward_call: Json, found: list[int]) -> None:
        first = self._leaves[found[0]]
        names = [self._parameters.known[number].name for number in found]
        self._emitter.emit(
            {
                "t": "silent",
                "kind": "uncleared-gradients",
                "at": backward_call["at"],
                "call": backward_call,
                "params": [name for name in names if name][:64],
                "figures": first.norms[:64],
                "gradient": first.gradient,
            }
        )


def _went_down(then: _Numbers, now: _Numbers, gradient: str) -> bool:
    """Return True if another attribute was moved against the gradient."""
    slope = flat([then[gradient]])
    for name in then.keys() - {gradient}:
        if now.get(name) != then[name]:
            moved = flat([now.get(name)]), flat([then[name]])
            if moved[0].shape == moved[1].shape == slope.shape and slope.any():
                change = moved[0] - moved[1]
                if float(torch.cosine_similarity(change, slope, dim=0)) <= DOWNHILL:
                    return True
    return False


def _norm(value: Hashable) -> float:
    return float(torch.linalg.vector_norm(flat([value])))
