"""What makes a script's own mathematics readable past the call at which it fails."""

from __future__ import annotations

from typing import Any, NamedTuple

import torch

from ..core.clock import CLOCK, next_number
from ..core.engine import Call, Observer
from ..core.graph import Node, walk

_REACHED = "walked_when"  # metadata: the last `_Reached` of a node


class _Reached(NamedTuple):
    """When backward reached a node: after so many steps, before the node of that number was
    made."""

    freed: bool  # by this call or an earlier one
    steps: int
    number: int


def copied(tensor: torch.Tensor) -> torch.Tensor:
    """Return a copy of a saved tensor: later writes of the script are not in the gradient."""
    return tensor.clone()


class Truncation(Observer):
    """Counts as zero the gradient that enters a node of the past.

    Backward reached such a node before the last optimizer step, or freed it before the loss was
    made: the result is the gradient of a script that carries values on, and no history. A loss made
    before the node was freed shares it, and gets its whole gradient.
    """

    def __init__(self) -> None:
        self._cut: list[Any] = []

    def before(self, call: Call) -> None:
        """Cut the graph of a backward call from its past."""
        youngest = _youngest(call)
        for node in walk(call.roots).nodes:
            if _is_past(node, youngest):
                self._cut.append(node.register_prehook(_zeros))

    def after(self, call: Call) -> None:
        """Remove the cuts, and mark what this iteration's backward call reached."""
        self._remove_cuts()
        youngest, now = _youngest(call), next_number()
        for node in call.walk.nodes:
            if not _is_past(node, youngest):
                before: _Reached | None = node.metadata.get(_REACHED)
                freed = call.frees or (before is not None and before.freed)
                node.metadata[_REACHED] = _Reached(freed, CLOCK.steps, now)

    def failed(self, call: Call, error: Exception) -> None:
        """Take the cuts away."""
        self._remove_cuts()

    def _remove_cuts(self) -> None:
        for cut in self._cut:
            cut.remove()
        self._cut.clear()


def _youngest(call: Call) -> int:
    return max((int(node._sequence_nr()) for node, _ in call.roots), default=0)


def _is_past(node: Node, youngest: int) -> bool:
    """Return True if it is past for a backward call whose last root has that number."""
    known: _Reached | None = node.metadata.get(_REACHED)
    if known is None:
        return False
    if known.steps < CLOCK.steps:
        return True
    if CLOCK.evaluated_since is not None and known.number >= CLOCK.evaluated_since:
        return False  # an evaluation of the closure is not the past of the next one
    return known.freed and youngest >= known.number


def _zeros(gradients: tuple[torch.Tensor | None, ...]) -> tuple[torch.Tensor | None, ...]:
    return tuple(None if g is None else torch.zeros_like(g) for g in gradients)
