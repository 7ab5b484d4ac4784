"""Finds leaves whose gradients are never cleared: of those that are updated by hand, again and
again, and of those that nothing updates."""

from __future__ import annotations

from collections.abc import Collection, MutableMapping, Sequence
from dataclasses import dataclass, field

import torch
from torch.utils.weak import WeakIdKeyDictionary

from ..core.parameters import KnownParameter, values_of
from .graph_depth import GROWTH


@dataclass
class _UnclearedLeaf:
    """What the last backward call left in a leaf.

    `norms` of its gradient at each update in a row, and `sums` of those that backward calls left.
    `touched`: something else than backward has written it.
    """

    name: str
    gradient: tuple[int, float] = (0, 0.0)
    values: tuple[float, float] = (0.0, 0.0)
    norms: list[float] = field(default_factory=list)
    sums: list[float] = field(default_factory=list)
    served: bool = False
    touched: bool = False


class UnclearedGradients:
    """Follows each leaf that no optimizer owns from one backward call to the next.

    An uncleared gradient has served an update when the leaf's values moved and the gradient was
    left as it was; it counts once a backward call adds to it. Accumulating the gradients of several
    calls for one update leaves the values where they are, and does not count.
    """

    def __init__(self) -> None:
        # By the tensor itself: what has one name in one place may be several, each with its own.
        self._leaves: MutableMapping[torch.Tensor, _UnclearedLeaf] = WeakIdKeyDictionary()

    def before(self) -> None:
        """Record which gradients have served an update, before a backward call adds to them."""
        for tensor, leaf in list(self._leaves.items()):
            if _gradient(tensor) != leaf.gradient or not leaf.gradient[1]:
                self._leaves[tensor] = _UnclearedLeaf(leaf.name, touched=True)
            else:
                leaf.served = values_of(tensor) != leaf.values

    def after(self, received: list[KnownParameter]) -> list[_UnclearedLeaf]:
        """Return the leaves that a backward call added to, with the norms that their updates
        used."""
        fed = []
        for known in received:
            tensor = known.tensor()
            if known.optimizer is not None or tensor is None or not tensor.is_leaf:
                continue
            leaf = self._leaves.setdefault(tensor, _UnclearedLeaf(known.name))
            if leaf.served:
                leaf.norms.append(leaf.gradient[1])
                fed.append(leaf)
            leaf.name = known.name
            leaf.gradient, leaf.values = _gradient(tensor), values_of(tensor)
            leaf.sums.append(leaf.gradient[1])
        return fed

    def gathering(self) -> list[_UnclearedLeaf]:
        """Return the leaves that every backward call has added to, and nothing else has ever
        touched."""
        return [leaf for leaf in self._leaves.values() if not leaf.touched]


def unmoved(
    known: Sequence[KnownParameter], stepped: Collection[int] | None = None
) -> list[KnownParameter]:
    """Return all fed leaves without an optimizer, or those whose optimizer has not `stepped`, if
    nobody ever moves any.
    """
    leaves = [one for one in known if one.name and one.receipts >= GROWTH and not one.renewals]
    if stepped is None:
        leaves = [one for one in leaves if one.optimizer is None]
    else:
        leaves = [one for one in leaves if one.optimizer not in (None, *stepped)]
    for one in leaves:
        one.look()
    return [] if any(one.moved for one in leaves) else leaves


def _gradient(tensor: torch.Tensor) -> tuple[int, float]:
    gradient = tensor.grad if tensor.is_leaf else None
    return (0, 0.0) if gradient is None else (id(gradient), values_of(gradient)[1])
