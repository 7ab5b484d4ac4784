"""Finds leaves whose gradients are never cleared: of those that are updated by hand, again and
again, and of those that nothing updates."""

from __future__ import annotations

from dataclasses import dataclass, field

import torch

from .parameters import Known, values_of


@dataclass
class _Leaf:
    """What the last walk left in a leaf; `norms` of its gradient at each update in a row, and
    `sums` of those that walks left since anything else has touched it."""

    known: Known
    gradient: tuple[int, float]
    values: tuple[float, float]
    norms: list[float] = field(default_factory=list)
    sums: list[float] = field(default_factory=list)


class Uncleared:
    """Follows each leaf that no optimizer owns from one walk to the next.

    An uncleared gradient has served an update when the leaf's values moved and the gradient was
    left as it was; it counts once a walk adds to it. Gathering the gradients of several walks for
    one update leaves the values where they are, and does not count.
    """

    def __init__(self) -> None:
        self._leaves: dict[int, _Leaf] = {}
        self._served: set[int] = set()
        self._touched: set[int] = set()

    def before(self) -> None:
        """A walk is about to add to gradients: which of them have served an update?"""
        self._served = set()
        for leaf in list(self._leaves.values()):
            tensor = leaf.known.tensor()
            if tensor is None or _gradient(tensor) != leaf.gradient or not leaf.gradient[1]:
                del self._leaves[leaf.known.id]
                self._touched.add(leaf.known.id)
            elif values_of(tensor) != leaf.values:
                self._served.add(leaf.known.id)

    def after(self, received: list[Known]) -> list[_Leaf]:
        """The leaves that a walk added to, with the norms of what their updates used in a row."""
        for known in received:
            tensor = known.tensor()
            if known.optimizer is not None or tensor is None or not tensor.is_leaf:
                continue
            old = self._leaves.get(known.id)
            norms = old.norms if old is not None else []
            if known.id in self._served and old is not None:
                norms = [*norms, old.gradient[1]]
            gradient = _gradient(tensor)
            sums = [*(old.sums if old is not None else []), gradient[1]]
            self._leaves[known.id] = _Leaf(known, gradient, values_of(tensor), norms, sums)
        return [self._leaves[k.id] for k in received if k.id in self._served]

    def gathering(self) -> list[_Leaf]:
        """The leaves that every walk has added to, and nothing else has ever touched."""
        return [leaf for leaf in self._leaves.values() if leaf.known.id not in self._touched]


def _gradient(tensor: torch.Tensor) -> tuple[int, float]:
    gradient = tensor.grad if tensor.is_leaf else None
    return (0, 0.0) if gradient is None else (id(gradient), _norm(gradient))


def _norm(tensor: torch.Tensor) -> float:
    dense = tensor.detach().to_dense() if tensor.is_sparse else tensor.detach()
    return float(torch.linalg.vector_norm(dense.double()))
