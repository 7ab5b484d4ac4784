"""Where parameters are held still: a little off the point at which a script begins.

At that point the gradient of a term may happen to vanish (a penalty of weights that begin as
zeros, a distance to where they were), so that a patch which lets go of the term would go unnoticed.
"""

from __future__ import annotations

import torch

from .gradients import signs
from .keeping import alive
from .stamps import Clock, next_number

SHARE = 0.05  # of a value; of the parameter's typical one, where it is zero


def reached() -> set[int]:
    """The ids of the leaves that a graph leads to already: they stay where it was made."""
    made = next_number() > Clock.first_node
    return {id(at.variable) for _, at in alive().leaves} if made else set()


def perturb(parameter: torch.Tensor, place: int) -> None:
    """Move it, in every run by the same amounts: signs stay as they are, and zeros become positive.
    `place` is which of those that optimizers take it is."""
    dense = parameter.layout is torch.strided and parameter.is_floating_point()
    if dense and parameter.numel():
        _move(parameter.data, place)


def _move(values: torch.Tensor, place: int) -> None:
    one, two, three = signs(values.numel()).double()
    rough = ((4 * one + 2 * two + three) / 7).roll(place).reshape(values.shape).to(values)
    typical = values.square().mean().sqrt()
    typical = torch.where(typical > 0, typical, torch.ones_like(typical))
    zeros, others = typical * SHARE * (1 + rough / 2), values * (1 + SHARE * rough)
    values.copy_(torch.where(values == 0, zeros, others))
