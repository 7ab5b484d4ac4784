"""Where parameters are held still: a little off the point at which a script begins.

At that point the gradient of a term may happen to vanish (a penalty of weights that begin as
zeros, a distance to where they were), so that a patch which lets go of the term would go unnoticed.
"""

from __future__ import annotations

import torch

from ..core.retained_size import alive
from ..core.stamps import Clock, next_number

SHARE = 0.05  # of a value; of the parameter's typical one, where it is zero
PERIOD = 17  # of a pattern that is neither flat nor straight
LOOKS = 8  # at what graphs lead to; optimizers that are made later leave all where it begins


def reached() -> set[int]:
    """Return the ids of the leaves that a graph leads to already: they stay as they are."""
    made = next_number() > Clock.first_node
    return {id(at.variable) for _, at in alive().leaves} if made else set()


def perturb(parameter: torch.Tensor, place: int) -> None:
    """Move a parameter by the same amounts in every run.

    Signs stay as they are, and zeros become positive. `place` identifies the parameter.
    """
    values = parameter.data
    plain = type(values) is torch.Tensor and values.layout is torch.strided
    if plain and values.is_floating_point() and values.numel() and 0 not in values.stride():
        _move(values, place)


def _move(values: torch.Tensor, place: int) -> None:
    row = torch.arange(values.numel(), dtype=torch.int32).add_(place % PERIOD).remainder_(PERIOD)
    rough = row.mul_(11).remainder_(PERIOD).reshape(values.shape).to(values).sub_(8).div_(8)
    typical = values.square().mean().sqrt()
    typical = torch.where(typical > 0, typical, torch.ones_like(typical))
    zeros = rough.div(2).add_(1).mul_(SHARE * typical)
    values.copy_(torch.where(values == 0, zeros, rough.mul_(SHARE).add_(1).mul_(values)))
