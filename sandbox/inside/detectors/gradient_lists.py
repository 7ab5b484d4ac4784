"""Describes lists of gradients that names hold."""

from __future__ import annotations

from dataclasses import dataclass
from typing import Any

import torch

from ..core.parameters import version_of
from ..core.value_names import Name

ENTRIES = 4096  # of a collection that is looked into
OUTLIVED = 3  # calls that rewrote what an object keeps from an earlier one

Values = tuple[int, int]  # where values lie, and how many
NOWHERE = (0, 0)


@dataclass(frozen=True)
class GradientList:
    """A list of gradients under one name: which list, since which call, as written how often."""

    name: Name
    identity: int
    since: int
    versions: dict[Values, int]


def is_short(held: Any) -> bool:
    """Return True if it may be a list of gradients: data sets have more entries than models
    parameters."""
    return isinstance(held, torch.Tensor) or 0 < len(held) <= ENTRIES


def holds_any(held: Any, numbers: set[int]) -> bool:
    """Return True if a collection holds any of these, by `id`."""
    return is_short(held) and not numbers.isdisjoint(map(id, items_of(held)))


def items_of(held: Any) -> list[Any]:
    if isinstance(held, torch.Tensor):
        return [held]
    return list(held.values() if isinstance(held, dict) else held)


def is_rewritten(kept: GradientList, parameter: torch.Tensor | None) -> bool:
    gradient = parameter.grad if parameter is not None else None
    if gradient is None:
        return False
    before = kept.versions.get(memory_of(gradient))
    return before is not None and version_of(gradient) > before + OUTLIVED


def memory_of(held: Any) -> Values:
    """Return the address and number of a tensor's values.

    They are the same for the results of `detach()`, `.data` and `view`.
    """
    try:
        return (held.data_ptr(), held.numel()) if isinstance(held, torch.Tensor) else NOWHERE
    except (RuntimeError, NotImplementedError):  # a sparse one, or no real one
        return NOWHERE
