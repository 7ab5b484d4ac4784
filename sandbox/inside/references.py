"""What makes a script's own mathematics readable past the call at which it fails."""

from __future__ import annotations

from typing import Any

import torch

from .engine import Call, Observer
from .graph import Node, walk
from .stamps import Clock

_WALKED = "walked_when"  # metadata: whether a walk freed the node, and the steps taken until then


def copied(tensor: torch.Tensor) -> torch.Tensor:
    """A saved tensor as it is now: what the script writes into it later is not in the gradient."""
    return tensor.clone()


class Truncation(Observer):
    """Counts as zero what enters a node that belongs to the past.

    That is a node which an earlier walk has freed, or has walked before the last optimizer step:
    the gradient of a script that carries values on, and no history.
    """

    def __init__(self) -> None:
        self._cut: list[Any] = []

    def before(self, call: Call) -> None:
        """Cut the graph that is about to be walked from its past."""
        for node in walk(call.roots).nodes:
            if _is_past(node):
                self._cut.append(node.register_prehook(_zeros))

    def after(self, call: Call) -> None:
        """Take the cuts away, and mark what was walked."""
        self._mend()
        for node in call.walk.nodes:
            freed, _ = node.metadata.get(_WALKED, (False, 0))
            node.metadata[_WALKED] = freed or call.frees, Clock.steps

    def failed(self, call: Call, error: Exception) -> None:
        """Take the cuts away."""
        self._mend()

    def _mend(self) -> None:
        for cut in self._cut:
            cut.remove()
        self._cut.clear()


def _is_past(node: Node) -> bool:
    known = node.metadata.get(_WALKED)
    return known is not None and (known[0] or known[1] < Clock.steps)


def _zeros(gradients: tuple[torch.Tensor | None, ...]) -> tuple[torch.Tensor | None, ...]:
    return tuple(None if g is None else torch.zeros_like(g) for g in gradients)
