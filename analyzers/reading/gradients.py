"""Gradients as tensors: which reads of `p.grad` give one and the same, and when they were taken.

A backward adds into the tensor that `.grad` is already. What was read of it at two times, with a
backward between them, is one tensor: a script that computes with both takes the older for a copy.
"""

from __future__ import annotations

from collections.abc import Iterable
from dataclasses import dataclass
from typing import TYPE_CHECKING

from analyzers.evidence import SilentFault
from analyzers.reading.carriers import MAX_HOLDERS, holder_of
from analyzers.reading.graph import NameBinding, TapeNode, Traversal
from analyzers.reading.torch_values import GradientValue, Taken
from analyzers.reading.values import AbstractValue, Const, Mapping, Sequence
from provenance import BackwardCall, CodeLine

if TYPE_CHECKING:
    from analyzers.reading.frames import InterpreterFrame
    from analyzers.reading.machine import Machine

SHARING = frozenset({"detach", "view", "view_as", "reshape", "flatten", "ravel", "detach_"})
MAX_PARTS = 64


@dataclass(slots=True)
class GradSlot:
    """The state of one leaf's `.grad`.

    `tensor` counts the tensors that it has been, `written` the backward calls that added to one,
    `cleared` the clearings of all slots that it has seen.
    """

    tensor: int = 0
    written: int = 0
    filled: bool = False
    cleared: int = 0
    last: BackwardCall | None = None


class Slots:
    """The gradients of all leaves; what clears one is taken to clear any of them."""

    def __init__(self) -> None:
        self.cleared = 0
        self.met: dict[object, Taken] = {}
        self.names: dict[Taken, list[NameBinding]] = {}
        self._of: dict[TapeNode, GradSlot] = {}

    def of(self, leaf: TapeNode) -> GradSlot:
        """Return the slot of a leaf."""
        slot = self._of.get(leaf)
        if slot is None:
            slot = self._of[leaf] = GradSlot(cleared=self.cleared)
        if slot.cleared != self.cleared:
            slot.cleared = self.cleared
            self._emptied(slot)
        return slot

    def replaced(self, leaf: TapeNode) -> None:
        """Record that `p.grad` is None, or another tensor, from now on."""
        self._emptied(self.of(leaf))

    def added(self, traversal: Traversal) -> None:
        """Record a backward call, which adds to what it reaches; `create_graph` makes other
        tensors."""
        if traversal.call.kind != "backward":
            return
        for leaf in traversal.leaves:
            if traversal.call.create_graph:
                self.replaced(leaf)
            slot = self.of(leaf)
            slot.written += 1
            slot.filled, slot.last = True, traversal.call

    def zeroed(self, given: AbstractValue | None) -> None:
        """Record `zero_grad()`: unless it keeps the tensors, the next backward call makes
        others."""
        if not (isinstance(given, Const) and given.value is False):
            self.cleared += 1

    @staticmethod
    def _emptied(slot: GradSlot) -> None:
        slot.tensor += 1
        slot.filled = False


def read(machine: Machine, leaf: TapeNode, frame: InterpreterFrame) -> GradientValue:
    """Return `p.grad`: until something is added to it there is no tensor that could be kept."""
    slot = machine.gradients.of(leaf)
    if not slot.filled:
        return GradientValue(leaf)
    taken = Taken(leaf, slot.tensor, slot.written, frame.place())
    return GradientValue(leaf, (taken,), names=machine.gradients.names.setdefault(taken, []))


def computed(
    machine: Machine, values: Iterable[AbstractValue], frame: InterpreterFrame
) -> tuple[Taken, ...]:
    """Return the gradients that a computation with these values reads.

    Report a line that reads one gradient twice at different times without a change in between.
    """
    given = _gradients(values)
    if not given:
        return ()
    now, place = len(machine.tape.calls), frame.place()
    found: list[Taken] = []
    for gradient in given:
        if gradient.computed is not None and gradient.computed != now:
            continue  # values of their own
        for taken in gradient.taken:
            if machine.gradients.of(taken.leaf).tensor != taken.tensor:
                continue
            found.append(taken)
            key = (now, place.file, place.line, taken.leaf)
            other = machine.gradients.met.setdefault(key, taken)
            if other.written != taken.written and not machine.suspecting:
                _tell(machine, min(other, taken, key=lambda one: one.written), place)
    return tuple(dict.fromkeys(found))[:MAX_PARTS]


def _gradients(values: Iterable[AbstractValue], depth: int = 2) -> list[GradientValue]:
    found: list[GradientValue] = []
    for value in values:
        if isinstance(value, GradientValue):
            found.append(value)
        elif depth and isinstance(value, Sequence):
            found += _gradients(value.items[-MAX_PARTS:], depth - 1)
        elif depth and isinstance(value, Mapping):
            found += _gradients(list(value.items.values())[:MAX_PARTS], depth - 1)
    return found


def _tell(machine: Machine, taken: Taken, place: CodeLine) -> None:
    names = [holder_of(name, "now") for name in machine.gradients.names[taken]]
    machine.report(
        ("overwritten", taken.at.file, taken.at.line),
        SilentFault(
            kind="overwritten-gradient",
            how="predicted",
            at=place,
            holders=tuple(dict.fromkeys(names))[:MAX_HOLDERS],
            call=machine.gradients.of(taken.leaf).last,
            detail="what was kept and what was taken after a later backward are one tensor",
        ),
    )
