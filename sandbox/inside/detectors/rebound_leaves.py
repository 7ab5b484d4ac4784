"""Finds leaves that an optimizer goes on to hold, whose names go to a new tensor time and again."""

from __future__ import annotations

import weakref
from collections import defaultdict
from collections.abc import Callable, Sequence
from types import FrameType

import torch

from ..core.frames import Json
from ..core.holders import ReferrerSearch
from ..core.parameters import KnownParameter, ParameterRegistry
from .graph_depth import GROWTH
from .replaced_parameters import replacement_report

AGAIN = 2 * GROWTH  # so many steps without a gradient: by then a name that moves has moved again


class ReboundLeaves:
    """Looks at what an optimizer holds and backward no longer reaches, though it did once."""

    def __init__(self, parameters: ParameterRegistry) -> None:
        self._parameters = parameters
        self._fed: dict[int, int] = {}
        self._missed: dict[int, int] = defaultdict(int)
        self._others: dict[int, Callable[[], torch.Tensor | None]] = {}
        self._moved: dict[int, KnownParameter] = {}

    def stepped(self, owned: Sequence[KnownParameter], frame: FrameType | None) -> None:
        """Count the steps without a gradient, and look twice at who has the name meanwhile."""
        unfed = list[KnownParameter]()
        for known in owned:
            fed, self._fed[known.id] = self._fed.get(known.id), known.receipts
            self._missed[known.id] = self._missed[known.id] + 1 if fed == known.receipts else 0
            if fed and known.name and self._missed[known.id] in (GROWTH, AGAIN):
                unfed.append(known)
        for known, other in self._named_like(unfed, frame) if unfed else []:
            first = self._others.setdefault(known.id, weakref.ref(other))
            if self._missed[known.id] == AGAIN and first() is not other:
                self._moved[known.id] = known

    def _named_like(
        self, unfed: list[KnownParameter], frame: FrameType | None
    ) -> list[tuple[KnownParameter, torch.Tensor]]:
        """Return those whose name now leads to another tensor of their shape without an
        optimizer."""
        shapes = {tuple(known.shape) for known in unfed}
        search = ReferrerSearch(
            lambda t: tuple(t.shape) in shapes, budget=20_000, depth=4, leaves=True
        )
        by_path = {name.path: tensor for name, tensor in search.around(frame)}
        named = [(k, by_path[k.name]) for k in unfed if k.name in by_path]
        return [
            (known, other)
            for known, other in named
            if other is not known.tensor()
            and ((new := self._parameters.find(other)) is None or new.optimizer is None)
        ]

    def found(self) -> Json:
        """Return those that have lost their names and got no gradient since."""
        lost = [known for known in self._moved.values() if self._missed[known.id] >= AGAIN]
        return replacement_report(lost, lost)
