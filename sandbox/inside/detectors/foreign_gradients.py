"""Finds steps that use gradients of a backward call for another optimizer besides their own.

Such a call may also have been for the gradient of an input.
"""

from __future__ import annotations

from collections import Counter
from collections.abc import Iterable
from dataclasses import dataclass, field

import torch

from ..core.engine import Call
from ..core.parameters import KnownParameter, version_of
from .details import CONTENDING, FOREIGN, TAKEN

OPPOSED = -0.3  # the cosine between what was left and what comes on top of it: they contend


@dataclass
class _KeptGradients:
    """What backward calls left in a parameter since it was cleared or stepped: `calls` with lines.

    `served`: only another optimizer has stepped on the last of them, so far; `foreign` are the
    lines of such calls that a later call has added to, and `norm` what it found there. `taken`: the
    lines of calls for the gradient of something else; `left`: what a served call left, and
    `products`: of that with what was added, that with itself, and the addition with itself.
    """

    gradient: tuple[int, int] = (0, 0)
    calls: list[tuple[int, str]] = field(default_factory=list)
    served: bool = False
    foreign: set[str] = field(default_factory=set)
    taken: set[str] = field(default_factory=set)
    norm: float = 0.0
    left: torch.Tensor | None = None
    products: tuple[float, float, float] = (0.0, 0.0, 0.0)

    def is_foreign(self, first: set[str]) -> bool:
        """Return True if it holds what the optimizer's first step had none of."""
        return bool(self.foreign) and not self.foreign & first

    def is_mixed(self) -> bool:
        """Return True if the last backward call has added to those for something else."""
        return bool(self.taken) and self.norm > 0 and self.calls[-1][1] not in self.taken


class ForeignGradients:
    """Follows the gradients of each parameter from one step of its optimizer to the next.

    A backward call on whose gradients another optimizer has stepped belongs to that step. What it
    left in these parameters is foreign to their own step, unless their first step used its line,
    too: then their losses are several, with a backward call each. An exception are losses of which
    one goes down where the other goes up: who steps with both steps with neither. A backward call
    may be for something else if it feeds a leaf that was recreated when the script came to that
    line again (an input that climbs the loss); so is what it leaves in parameters by the way.
    `norms`: by optimizer, of each step that used what is foreign; `cleared`: how often something
    foreign was cleared instead; `detail`: what the last such step used.
    """

    def __init__(self) -> None:
        self._held: dict[int, tuple[KnownParameter, _KeptGradients]] = {}
        self._first: dict[int, set[str]] = {}
        self._inputs: dict[tuple[str, int], int] = {}  # by line and number: which tensor it was
        self.detail = FOREIGN
        self.norms: dict[int, list[float]] = {}
        self.cleared: Counter[int] = Counter()

    def rest(self) -> None:
        """Forget what gradients hold: what follows is not looked at."""
        self._held.clear()

    def before(self) -> None:
        """Forget cleared or written gradients before a backward call adds to gradients."""
        cleared = set()
        for number, (known, held) in list(self._held.items()):
            gradient = known.gradient
            if gradient is None or (id(gradient), version_of(gradient)) != held.gradient:
                if known.optimizer is not None and (held.served or held.foreign or held.taken):
                    cleared.add(known.optimizer)
                del self._held[number]
            elif held.served or held.taken:
                held.norm = known.norm
                held.left = _copy(gradient) if held.served else None
        self.cleared.update(cleared)

    def after(self, call: Call) -> None:
        """Record whose gradients the backward call has added to."""
        remade = self._has_remade(call)
        for known in call.received:
            gradient = known.gradient
            if known.optimizer is None or gradient is None:
                continue
            _, held = self._held.setdefault(known.id, (known, _KeptGradients()))
            if held.served and held.norm:
                held.foreign.add(held.calls[-1][1])
                held.products = _products(held.left, gradient)
                held.left = None
            if remade and held.calls and held.calls[-1][1] == call.line():
                held.taken.add(call.line())
            held.served = False
            held.calls.append((call.n, call.line()))
            held.gradient = (id(gradient), version_of(gradient))

    def _has_remade(self, call: Call) -> bool:
        """Return True if the call feeds a leaf that was another tensor when its line last ran."""
        found = False
        for known in call.received:
            if known.optimizer is None:
                key, now = (call.line(), known.id), id(known.tensor())
                found |= self._inputs.get(key, now) != now
                self._inputs[key] = now
        return found

    def stepped(self, optimizer: int, owned: list[KnownParameter]) -> list[KnownParameter]:
        """Return the parameters of this step that hold what is foreign to it."""
        mine = {known.id: self._held.pop(known.id)[1] for known in owned if known.id in self._held}
        calls = {call for held in mine.values() for call in held.calls}
        for _, other in self._held.values():
            other.served = other.served or other.calls[-1] in calls
        first = self._first.setdefault(optimizer, _lines(mine.values()))
        own = [k for k in owned if k.id in mine and mine[k.id].calls[-1][1] in first]
        stale = [k for k in own if mine[k.id].is_foreign(first) or mine[k.id].is_mixed()]
        self.detail = FOREIGN
        if any(mine[known.id].taken for known in stale):
            self.detail = TAKEN
        elif not stale and _cosine(mine.values()) < OPPOSED:
            stale = [known for known in own if mine[known.id].foreign]
            self.detail = CONTENDING
        if stale:
            norm = sum(mine[known.id].norm ** 2 for known in stale) ** 0.5
            self.norms.setdefault(optimizer, []).append(norm)
        return stale


def _lines(held: Iterable[_KeptGradients]) -> set[str]:
    return {line for one in held for _, line in one.calls}


def _copy(gradient: torch.Tensor) -> torch.Tensor | None:
    """Return a copy of its numbers, or None if it has no plain ones."""
    if gradient.layout != torch.strided or gradient.is_complex() or gradient.is_meta:
        return None
    with torch._C.DisableTorchFunction():  # this is no call of the script's
        return gradient.detach().clone()


def _products(left: torch.Tensor | None, both: torch.Tensor) -> tuple[float, float, float]:
    """Return the inner products of what was left with what was added, and of either with itself."""
    if left is None or both.layout != torch.strided:
        return 0.0, 0.0, 0.0
    with torch._C.DisableTorchFunction():
        old = left.flatten().double()
        new = both.detach().flatten().double() - old
        return float(old @ new), float(old @ old), float(new @ new)


def _cosine(held: Iterable[_KeptGradients]) -> float:
    """Return the cosine of what other calls left and what was added; 0 if there is none."""
    products = [one.products for one in held]
    across, old, new = (sum(one[n] for one in products) for n in range(3))
    return across / (old * new) ** 0.5 if old and new else 0.0
