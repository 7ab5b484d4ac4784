"""Describe the differences between two runs."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from math import inf
from typing import Literal

from sandbox.records import Backward, Step

Kind = Literal[
    "parameters",
    "value",
    "setting",
    "optimizer",
    "lost",
    "gained",
    "gradient",
    "update",
    "buffer",
    "steps",
]
"""In the order in which they are named where several are found at one step."""
_KINDS: Sequence[str] = Kind.__args__  # type: ignore[attr-defined]
WHAT: Mapping[Kind, str] = {
    "value": "holds another value as the step begins",
    "gradient": "gets another gradient",
    "update": "is changed by another amount",
}
NUMERIC = frozenset({"value", "gradient", "update", "buffer"})


@dataclass(frozen=True)
class Difference:
    """One difference. `order` is the number of the original's step: 0 is before the first, infinity
    the end of the run. `gap` is a share of the norm, or None if the difference is not numeric.
    `since` is the number of the compared step before it if the steps between were not compared,
    else 0: the difference may have been made at any of them.
    """

    order: float
    kind: Kind
    what: str
    parameter: str = ""
    gap: float | None = None
    ours: Step | None = None
    theirs: Step | None = None
    since: int = 0

    @property
    def step(self) -> int | None:
        """Return the number of the original's step: 0 before the first, None at the end."""
        if self.order == inf:
            return None
        if self.ours is not None:
            return self.ours.n or self.ours.count or int(self.order)
        return int(self.order)

    @property
    def rank(self) -> tuple[float, bool, int]:
        """Return the sort key: earliest first. At the end, the number of
        steps explains the rest.
        """
        at_end = self.order == inf and self.kind != "steps"
        return self.order, at_end, _KINDS.index(self.kind)


@dataclass(frozen=True)
class LossGap:
    """The first backward call whose loss has another value."""

    ours: Backward
    theirs: Backward


@dataclass(frozen=True)
class Compared:
    """The comparison of two runs, step by step.

    `steps` were compared, of `total` that the original took; `random_from` is the order of the
    first step at which other random numbers had been drawn, `random_step` its number; `kinds` are
    optimizer classes that differ; `stopped`: a run was stopped before its end; `relaid`: weights
    are laid out in other tensors; `lost_gradients`: parameters that had gradients and have none any
    more.
    """

    steps: int = 0
    total: int = 0
    differences: Sequence[Difference] = ()
    random_from: float = inf
    random_step: int = 0
    loss: LossGap | None = None
    kinds: tuple[str, str] | None = None
    stopped: bool = False
    relaid: bool = False
    lost_gradients: tuple[str, ...] = ()
    parameters: int = 0

    @property
    def first(self) -> Difference | None:
        """Return the first difference; None if there is none."""
        return min(self.differences, key=lambda d: d.rank, default=None)

    @property
    def is_sample(self) -> bool:
        """Return True if the original took steps that were not compared."""
        return self.total > self.steps

    @property
    def equal(self) -> int:
        """Return how many steps before the first difference agree."""
        return self.steps if self.first is None else max(min(int(self._ahead), self.steps), 0)

    @property
    def _ahead(self) -> float:
        assert self.first is not None
        return self.first.order - 1 if self.first.order < inf else self.steps

    @property
    def is_same(self) -> bool:
        """Return True if something was compared and nothing differs."""
        return self.steps > 0 and not self.differences
