"""Finds parameters that are moved along their own gradients, which the next walk then adds to: the
ascent of a sharpness-aware step, of which the descent should not see the gradient."""

from __future__ import annotations

from collections.abc import Iterable
from dataclasses import dataclass, field

import torch

from .parameters import Known, Parameters, values_of
from .stamps import Clock

ALONG = 0.9  # cosine of what was changed, and the gradient
MOST = 1 << 20  # numbers of a parameter that are compared


@dataclass
class _Left:
    """A parameter as the last walk left it."""

    mark: tuple[int, int] | None
    values: tuple[float, float]
    steps: int
    copy: torch.Tensor | None = None


@dataclass
class Ascents:
    """Follows what optimizers hold from one walk to the next, without a step in between. `norms`
    of gradients that had moved their parameter and were added to, for each walk with such."""

    parameters: Parameters
    norms: list[float] = field(default_factory=list)
    found: dict[int, Known] = field(default_factory=dict)
    _left: dict[int, _Left] = field(default_factory=dict)
    _wanted: set[int] = field(default_factory=set)
    _climbed: dict[int, float] = field(default_factory=dict)

    def before(self) -> None:
        """A walk is about to add to gradients: which parameters have these moved?"""
        self._climbed.clear()
        for number, left in self._left.items():
            known = self.parameters.known[number]
            tensor, gradient = known.tensor(), known.gradient
            if tensor is None or gradient is None or left.steps != Clock.steps:
                continue
            if left.mark != known.mark or values_of(tensor) == left.values:
                continue
            if left.copy is None:
                self._wanted.add(number)
            elif not _along(tensor, left.copy, gradient):
                self._wanted.discard(number)
            else:
                self._climbed[number] = known.norm

    def after(self, received: Iterable[Known]) -> bool:
        """Whether the walk has added to gradients that had moved their parameters, most of them:
        an attack on an embedding moves only that."""
        owned = [known for known in received if known.optimizer is not None]
        risen = {known.id: known for known in owned if known.id in self._climbed}
        climbed = 2 * len(risen) > len(owned)
        if climbed:
            self.found |= risen
            self.norms.append(sum(self._climbed[number] ** 2 for number in risen) ** 0.5)
        for known in owned:
            tensor = known.tensor()
            if tensor is not None and tensor.numel() <= MOST:
                copy = tensor.detach().clone() if known.id in self._wanted else None
                self._left[known.id] = _Left(known.mark, values_of(tensor), Clock.steps, copy)
        return climbed

    def forget(self) -> None:
        """Let go of what was kept: nothing more is looked at."""
        self._left.clear()
        self._wanted.clear()


def _along(now: torch.Tensor, then: torch.Tensor, gradient: torch.Tensor) -> bool:
    """Whether a parameter was moved up its gradient."""
    if now.shape != then.shape or gradient.layout != torch.strided:
        return False
    moved, slope = (now.detach() - then).flatten().double(), gradient.flatten().double()
    return float(torch.cosine_similarity(moved, slope, dim=0)) >= ALONG
