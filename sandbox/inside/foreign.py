"""Finds steps that use, beside their own gradients, what a backward for another optimizer left."""

from __future__ import annotations

from collections import Counter
from collections.abc import Iterable
from dataclasses import dataclass, field

import torch

from .engine import Call
from .parameters import Known


@dataclass
class _Held:
    """What walks left in a parameter since it was cleared or stepped: `calls` with their lines.
    `served`: only another optimizer has stepped on the last of them, so far; `foreign` are the
    lines of such calls that a walk has added to since, and `norm` what it found there."""

    gradient: tuple[int, int] = (0, 0)
    calls: list[tuple[int, str]] = field(default_factory=list)
    served: bool = False
    foreign: set[str] = field(default_factory=set)
    norm: float = 0.0


class Foreign:
    """Follows the gradients of each parameter from one step of its optimizer to the next.

    A backward whose gradients another optimizer has stepped on belongs to that step. What it left
    in these parameters is foreign to their own step, unless their first step used its line, too:
    then their losses are several, and walked apart. `norms`: by optimizer, of each step that used
    what is foreign; `cleared`: how often something foreign was cleared instead.
    """

    def __init__(self) -> None:
        self._held: dict[int, tuple[Known, _Held]] = {}
        self._first: dict[int, set[str]] = {}
        self.norms: dict[int, list[float]] = {}
        self.cleared: Counter[int] = Counter()

    def before(self) -> None:
        """A walk is about to add to gradients: forget those that were cleared or written."""
        cleared = set()
        for number, (known, held) in list(self._held.items()):
            gradient = known.gradient
            if gradient is None or (id(gradient), gradient._version) != held.gradient:
                if known.optimizer is not None and (held.served or held.foreign):
                    cleared.add(known.optimizer)
                del self._held[number]
            elif held.served:
                held.norm = float(torch.linalg.vector_norm(gradient.detach().double()))
        self.cleared.update(cleared)

    def after(self, call: Call) -> None:
        """Note whose gradients the walk has added to."""
        for known in call.received:
            gradient = known.gradient
            if known.optimizer is None or gradient is None:
                continue
            _, held = self._held.setdefault(known.id, (known, _Held()))
            if held.served and held.norm:
                held.foreign.add(held.calls[-1][1])
            held.served = False
            held.calls.append((call.n, call.line()))
            held.gradient = (id(gradient), gradient._version)

    def stepped(self, optimizer: int, owned: list[Known]) -> list[Known]:
        """The parameters of this step that hold what is foreign to it."""
        mine = {known.id: self._held.pop(known.id)[1] for known in owned if known.id in self._held}
        calls = {call for held in mine.values() for call in held.calls}
        for _, other in self._held.values():
            other.served = other.served or other.calls[-1] in calls
        first = self._first.setdefault(optimizer, _lines(mine.values()))
        stale = [
            known
            for known in owned
            if (held := mine.get(known.id)) is not None
            and held.foreign
            and not held.foreign & first
            and held.calls[-1][1] in first
        ]
        if stale:
            norm = sum(mine[known.id].norm ** 2 for known in stale) ** 0.5
            self.norms.setdefault(optimizer, []).append(norm)
        return stale


def _lines(held: Iterable[_Held]) -> set[str]:
    return {line for one in held for _, line in one.calls}
