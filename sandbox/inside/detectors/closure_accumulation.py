"""Finds optimizers whose closure leaves the gradients of its calls on one another."""

from __future__ import annotations

from collections import defaultdict

from ..core.frames import Json
from ..core.parameters import KnownParameter
from .details import PILED
from .graph_depth import GROWTH


class ClosureAccumulation:
    """Counts the calls that added to the gradients of the call before, and the steps in which any
    did."""

    def __init__(self) -> None:
        self._steps: dict[int, int] = defaultdict(int)
        self._calls: dict[int, int] = defaultdict(int)
        self._norms: dict[int, list[float]] = defaultdict(list)

    def stepped(self, optimizer: int, owned: list[KnownParameter], calls: int) -> Json | None:
        """Return a record about an optimizer after a step with so many backward calls, or None."""
        self._steps[optimizer] += 1
        if not calls:
            return None
        norms = self._norms[optimizer]
        norms.append(sum(known.norm**2 for known in owned) ** 0.5)
        self._calls[optimizer] += calls
        if self._calls[optimizer] < GROWTH or 2 * len(norms) < self._steps[optimizer]:
            return None
        names = [known.name for known in owned if known.name]
        return {"params": names[:64], "figures": norms[:64], "detail": PILED}
