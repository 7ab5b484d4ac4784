"""Finds parameters moved up their own gradients, if the next backward call adds to those.

That is the ascent of a sharpness-aware step, whose descent should not see the ascent's gradient.
The call must add to gradients of these parameters and their siblings only.
"""

from __future__ import annotations

from collections.abc import Iterable
from dataclasses import dataclass, field

import torch

from ..core.clock import CLOCK
from ..core.parameters import KnownParameter, ParameterRegistry, values_of

ALONG = 0.9  # of what was changed, weighed by the gradient, went up
MOST = 1 << 20  # numbers of a parameter that are compared


@dataclass
class _Left:
    """A parameter as the last backward call left it."""

    mark: tuple[int, int] | None
    values: tuple[float, float]
    steps: int
    copy: torch.Tensor | None = None  # of it, and of its gradient, where it was seen to move
    slope: torch.Tensor | None = None


@dataclass
class SharpnessSteps:
    """Follows what optimizers hold from one backward call to the next, without a step in between.

    `norms`: of the ascents' gradients that were added to, for each such call.
    """

    parameters: ParameterRegistry
    norms: list[float] = field(default_factory=list)
    found: dict[int, KnownParameter] = field(default_factory=dict)
    _left: dict[int, _Left] = field(default_factory=dict)
    _wanted: set[int] = field(default_factory=set)
    _climbed: dict[int, float] = field(default_factory=dict)
    _cleared: set[int] = field(default_factory=set)  # that have climbed, too
    _stayed: dict[int, float] = field(default_factory=dict)

    def before(self) -> None:
        """Record which parameters have moved before a backward call adds to gradients."""
        self._climbed.clear()
        self._cleared.clear()
        stayed = []
        for number, left in self._left.items():
            known = self.parameters.known[number]
            tensor, kept = known.tensor(), left.mark == known.mark and known.gradient is not None
            if tensor is None or left.steps != CLOCK.steps:
                continue
            if values_of(tensor) == left.values:
                stayed += [known] if kept else []
            elif left.copy is None or left.slope is None:
                self._wanted.add(number)
            elif not _up(left.copy, tensor.detach(), left.slope):
                self._wanted.discard(number)
            elif kept:
                self._climbed[number] = known.norm
            elif not known.norm:
                self._cleared.add(number)
        self._stayed = {known.id: known.norm for known in stayed if self._cleared}

    def after(self, received: Iterable[KnownParameter]) -> bool:
        """Return True if most of what the backward call reached had climbed and it added to those
        gradients.

        An attack on an embedding moves only that.
        """
        owned = [known for known in received if known.optimizer is not None]
        for climbed, added in ((self._climbed, self._climbed), (self._cleared, self._stayed)):
            risen = {known.id: known for known in owned if known.id in added}
            if risen and 2 * sum(known.id in climbed for known in owned) > len(owned):
                self.found |= risen
                self.norms.append(sum(added[number] ** 2 for number in risen) ** 0.5)
                break
        else:
            risen = {}
        for known in owned:
            tensor = known.tensor()
            if tensor is not None and tensor.numel() <= MOST:
                left = _Left(known.mark, values_of(tensor), CLOCK.steps)
                if known.id in self._wanted and known.gradient is not None:
                    left.copy, left.slope = tensor.detach().clone(), known.gradient.clone()
                self._left[known.id] = left
        return bool(risen)

    def forget(self) -> None:
        """Let go of what was kept: nothing more is looked at."""
        self._left.clear()
        self._wanted.clear()


def _up(then: torch.Tensor, now: torch.Tensor, slope: torch.Tensor) -> bool:
    """Return True if a parameter moved up its gradient, by whatever step sizes."""
    if not then.shape == now.shape == slope.shape or slope.layout != torch.strided:
        return False
    gains = (now - then).double() * slope.double()
    return 0.0 < ALONG * float(gains.abs().sum()) <= float(gains.sum())
