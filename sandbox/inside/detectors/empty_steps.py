"""Finds parameters that backward calls do give gradients, and that never have one at their own
optimizer's step."""

from __future__ import annotations

from collections.abc import Iterable
from dataclasses import dataclass
from types import FrameType

import torch

from ..core.backward_site import TracedBackward
from ..core.clock import CLOCK
from ..core.engine import Call
from ..core.frames import Json, place
from ..core.parameters import KnownParameter
from ..core.sampling import doubling
from .details import ELSEWHERE, FROZEN

ENOUGH = 3  # steps without a gradient, and no other, are no accident
MOST = 64  # names that are reported


@dataclass
class _Looks:
    """What the looks at one parameter's steps found. `cleared`: the backward before the step had
    given it a gradient; `astray`: it had given one to what no optimizer holds."""

    empty: int = 0
    full: int = 0
    cleared: int = 0
    astray: bool = False
    at: Json | None = None
    backward: TracedBackward | None = None

    @property
    def was_cleared(self) -> bool:
        """Return True if the backward call before the step mostly gave the parameter its
        gradient."""
        return 2 * self.cleared > self.empty


class EmptySteps:
    """Compares what backward calls gave with what steps find, at the first steps of an optimizer
    and then ever more rarely.

    A parameter that has a gradient at any of these steps is trained, whatever the others found. So
    is one that a step changed: its optimizer took the gradient in a way of its own; and one that
    another optimizer trains, unless no step of this one ever finds any gradient, and no backward
    before it feeds what no optimizer holds.
    """

    def __init__(self) -> None:
        self._looks: dict[int, dict[int, _Looks]] = {}  # by optimizer, and by parameter
        self._fed: set[int] = set()  # optimizers of which any step found any gradient
        self._steps: dict[int, int] = {}
        self._frozen: dict[int, tuple[int, list[KnownParameter]]] = {}  # looks, by optimizer
        self._thawed: set[int] = set()  # optimizers that held anything to train, at any look
        self._given: dict[int, tuple[int, int] | None] = {}
        self._last: TracedBackward | None = None
        self._astray = False

    def after_backward(self, call: Call) -> None:
        """Record that a backward call gave parameters a gradient."""
        self._given = {known.id: known.mark for known in call.received}
        self._last = call.alone()
        self._astray = any(known.optimizer is None for known in call.received)

    def stepped(self, optimizer: int, owned: list[KnownParameter], frame: FrameType | None) -> None:
        """Look at what an optimizer found."""
        steps = self._steps[optimizer] = self._steps.get(optimizer, 0) + 1
        if self._last is None or not doubling(steps):
            return
        if any(map(_asks, owned)):
            self._thawed.add(optimizer)
        else:
            self._frozen[optimizer] = self._frozen.get(optimizer, (0, []))[0] + 1, owned
        asked = [known for known in owned if known.receipts and _asks(known)]
        full = {known.id for known in asked if self._is_full(known)}
        zeros = [known for known in asked if known.id not in full and known.gradient is not None]
        if full or len(zeros) < len(asked):  # only what clears all of them leaves zeros everywhere
            full.update(known.id for known in zeros)
        if full:
            self._fed.add(optimizer)
        of_this = self._looks.setdefault(optimizer, {})
        for known in asked:
            looks = of_this.setdefault(known.id, _Looks())
            if known.id in full:
                looks.full += 1
                continue
            looks.empty += 1
            looks.cleared += known.id in self._given
            looks.astray |= self._astray
            looks.backward = looks.backward or self._last
            if looks.at is None and frame is not None:
                looks.at = place(frame)

    def _is_full(self, known: KnownParameter) -> bool:
        """Return True if the step had a gradient to use; zeros of the last backward call count."""
        gradient = known.gradient
        if gradient is None:
            return known.changed_by == CLOCK.steps
        left = known.id in self._given and self._given[known.id] == known.mark
        return left or gradient.layout is not torch.strided or bool(gradient.any())

    def misses(self, known: KnownParameter) -> bool:
        """Return True if some steps of an optimizer, and all that were seen, found the parameter
        without a gradient."""
        return self._missed(known) is not None

    def _missed(self, known: KnownParameter) -> _Looks | None:
        own = [(o, looks[known.id]) for o, looks in self._looks.items() if known.id in looks]
        trained = any(looks.full for _, looks in own)
        own = [pair for pair in own if not (trained and (pair[0] in self._fed or pair[1].astray))]
        empty = (looks for _, looks in own if not looks.full)
        return next((looks for looks in empty if looks.empty), None)

    def found(self, known: Iterable[KnownParameter]) -> tuple[str, Json] | None:
        """Return the kind of fault and the parameters that no step found with a gradient.

        Those come first that the backward call before their step does not reach.
        """
        found = [(one, looks) for one in known if (looks := self._missed(one)) is not None]
        found = [(one, looks) for one, looks in found if looks.empty >= ENOUGH]
        if not found:
            return self._all_frozen(known)
        cleared = all(looks.was_cleared for _, looks in found)
        found = [(one, looks) for one, looks in found if looks.was_cleared is cleared]
        missed, looks = [one for one, _ in found], found[0][1]
        lost = next((one.lost for one in missed if one.lost), None)
        fields = {
            "at": looks.at if cleared else lost,
            "call": looks.backward.record() if looks.backward is not None else None,
            "params": [one.name for one in missed if one.name][:MOST],
            "figures": [float(len(missed))],
            "detail": "" if cleared else ELSEWHERE,
        }
        return ("cleared-gradients" if cleared else "unfed-parameters"), fields

    def _all_frozen(self, known: Iterable[KnownParameter]) -> tuple[str, Json] | None:
        """Return what an optimizer steps repeatedly although it never required a gradient, and what
        gets gradients and is held by none."""
        fed = [one.name for one in known if one.receipts and one.optimizer is None and one.name]
        for optimizer, (looks, owned) in self._frozen.items():
            trained = optimizer in self._thawed or any(known.receipts for known in owned)
            if looks >= ENOUGH and owned and not trained:
                fields = {
                    "params": [one.name for one in owned if one.name][:MOST],
                    "optimizer_at": next((one.taken for one in owned if one.taken), None),
                    "instead": fed[:MOST],
                    "figures": [float(len(owned))],
                    "detail": FROZEN,
                }
                return "unfed-parameters", fields
        return None


def _asks(known: KnownParameter) -> bool:
    """Return True if the parameter requires a gradient."""
    tensor = known.tensor()
    return tensor is not None and tensor.is_leaf and tensor.requires_grad
