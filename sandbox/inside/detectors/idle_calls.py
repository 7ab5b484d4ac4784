"""Records backward calls that give no optimizer's parameter anything, and where graphs got lost."""

from __future__ import annotations

from collections.abc import Callable

import torch

from ..core.backward_site import TracedBackward
from ..core.engine import Call
from ..core.frames import Json
from ..core.parameters import KnownParameter
from ..recorders.graph_losses import LossLog


class IdleCalls:
    """The last such call, and where a leaf that it reached was made of what had a graph."""

    def __init__(self, log: LossLog | None) -> None:
        self._log = log
        self.last: TracedBackward | None = None
        self.end: Json | None = None
        self._of_leaf = False  # backward was called on a leaf, which has no graph

    def note(self, call: Call) -> None:
        """Record a call that gave no optimizer's parameter anything."""
        self.last = call.alone()
        roots = [one for one in call.outputs if isinstance(one, torch.Tensor) and one.is_leaf]
        leaves = [*roots, *(leaf.variable for _, leaf in call.walk.leaves)]
        ends = [self._log.of(leaf) for leaf in leaves] if self._log is not None else []
        self._of_leaf = bool(roots)
        self.end = next((ended.at for ended in ends if ended is not None), None)

    def note_lost(
        self, owned: list[KnownParameter], misses: Callable[[KnownParameter], bool]
    ) -> None:
        """Note where what came of parameters without a gradient lost its graph, while they live."""
        if self._log is None:
            return
        for known in owned:
            tensor = known.tensor()
            missed = not known.receipts or misses(known)
            if tensor is not None and missed and known.lost is None:
                ended = self._log.of_leaf(tensor)
                known.lost = ended.at if ended is not None else None

    def left_torch(self, untrained: list[KnownParameter]) -> Json | None:
        """Return where what derives from these went on as plain numbers, of which a leaf may be
        made."""
        if self._log is None or not self._of_leaf:
            return None
        tensors = [tensor for known in untrained if (tensor := known.tensor()) is not None]
        ends = map(self._log.left_torch, tensors)
        return next((ended.at for ended in ends if ended is not None), None)
