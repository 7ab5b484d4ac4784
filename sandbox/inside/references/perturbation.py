"""Where parameters are held still: a little off the point at which a script begins.

At that point the gradient of a term may happen to vanish (a penalty of weights that begin as
zeros, a distance to where they were), so that a patch which lets go of the term would go unnoticed.
"""

from __future__ import annotations

import zlib
from collections import Counter
from collections.abc import Collection, Sequence

import torch

from ..core.clock import CLOCK, next_number
from ..core.parameters import KnownParameter, ParameterRegistry
from ..core.retained_size import alive

SHARE = 0.05  # of a value; of the parameter's typical one, where it is zero
PERIOD = 17  # of a pattern that is neither flat nor straight
LOOKS = 8  # at what graphs lead to; optimizers that are made later leave all where it begins


class Perturbation:
    """Moves parameters off where they begin, but for those that stay in any run of the script.

    Those are `unmoved`, by numbers that neither names nor the order of groups change.
    """

    def __init__(self, parameters: ParameterRegistry, unmoved: Collection[int]) -> None:
        self._parameters = parameters
        self._unmoved = frozenset(unmoved)
        self._alike: Counter[str] = Counter()

    def move(self, fresh: Sequence[torch.Tensor], *, late: bool) -> None:
        """Move new parameters; `late` ones, and those that a graph leads to, stay as they are."""
        used = set() if late else _reached()
        for parameter in fresh:
            known = self._parameters.find(parameter)
            place = self._place_of(known)
            if not late and id(parameter) not in used and place not in self._unmoved:
                _perturb(parameter, place)
            elif known is not None:
                known.unmoved = place

    def _place_of(self, known: KnownParameter | None) -> int:
        """Return a number for a parameter, from its shape and first values, and how many before it
        had the same."""
        found = repr((known.shape, known.first)) if known is not None else ""
        self._alike[found] += 1
        return zlib.crc32(f"{found} {self._alike[found]}".encode())


def _reached() -> set[int]:
    """Return the ids of the leaves that a graph leads to already: they stay as they are."""
    made = next_number() > CLOCK.first_node
    return {id(at.variable) for _, at in alive().leaves} if made else set()


def _perturb(parameter: torch.Tensor, place: int) -> None:
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
