"""Records, for each leaf, where a graph that it had fed ended."""

from __future__ import annotations

import sys
import weakref
from collections import OrderedDict
from collections.abc import Sequence
from typing import Any

import torch

from ..core import frames
from ..core.clock import CLOCK
from ..core.parameters import ParameterRegistry
from .graph_ends import GraphEnd

KEPT = 50_000


class EndsByLeaf:
    """The first end of a graph for each leaf that had fed it."""

    def __init__(self) -> None:
        self._ended: dict[int, tuple[weakref.ref[torch.Tensor], GraphEnd]] = {}

    def note(self, ended: GraphEnd) -> None:
        for known in ended.leaves:
            leaf = known()
            if leaf is not None and len(self._ended) < KEPT and self.of(leaf) is None:
                self._ended[id(leaf)] = known, ended

    def of(self, leaf: torch.Tensor) -> GraphEnd | None:
        known, ended = self._ended.get(id(leaf), (None, None))
        return ended if known is not None and known() is leaf else None


class FrozenParameters:
    """Parameters that had learnt and were frozen, by the line that froze them."""

    def __init__(self, parameters: ParameterRegistry) -> None:
        self._parameters = parameters
        self._frozen: dict[int, tuple[weakref.ref[torch.Tensor], int, GraphEnd]] = {}

    def called(self, name: str, args: tuple[Any, ...], kwargs: dict[str, Any]) -> None:
        """Record a call that is about to set whether a tensor requires a gradient."""
        if name == "requires_grad_" or (name == "requires_grad" and len(args) > 1):
            flag = args[1] if len(args) > 1 else kwargs.get("requires_grad", True)
            if isinstance(flag, int):
                self._flagged(args[0] if args else None, not flag)

    def _flagged(self, tensor: Any, freezes: bool) -> None:
        if not freezes:
            self._frozen.pop(id(tensor), None)
        elif isinstance(tensor, torch.Tensor) and tensor.requires_grad and tensor.is_leaf:
            known, frame = self._parameters.find(tensor), frames.user_frame(sys._getframe(1))
            if known is not None and known.receipts and frame is not None:
                ended = GraphEnd(frames.place(frame), "frozen", "", tuple(frames.stack(frame)))
                self._frozen[id(tensor)] = weakref.ref(tensor), CLOCK.calls, ended

    def among(self, tensors: Sequence[torch.Tensor]) -> GraphEnd | None:
        """Return where the first still frozen tensor was frozen, after the backward call it was
        for."""
        for tensor in tensors:
            known, calls, ended = self._frozen.get(id(tensor), (None, 0, None))
            if known is not None and known() is tensor and calls < CLOCK.calls:
                return ended
        return None


def trim(*logs: OrderedDict[Any, Any]) -> None:
    """Drop the oldest entries of logs that have too many."""
    for log in logs:
        while len(log) > KEPT:
            log.popitem(last=False)
