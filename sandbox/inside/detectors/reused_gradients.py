"""Finds gradients that a step has used and that the next one uses again, added to."""

from __future__ import annotations

from collections import defaultdict
from collections.abc import Iterator

from ..core.clock import CLOCK
from ..core.frames import Json
from ..core.parameters import KnownParameter, ParameterRegistry, values_of
from .details import NEVER


class ReusedGradients:
    """Follows gradients from the step that uses them to the backward call that adds to them.

    `norms` are those of each optimizer's steps that used old gradients, `steps` counts all of its
    steps.
    """

    def __init__(self, parameters: ParameterRegistry) -> None:
        self._parameters = parameters
        self._used: dict[int, tuple[int, int]] = {}
        self._resting: dict[int, tuple[tuple[int, int], float]] = {}  # used, with their norms
        self._cleared: set[int] = set()  # parameters, at any time between a step and a backward
        self._values: dict[int, tuple[float, float]] = {}  # as they were last
        self._candidates: set[int] = set()
        self._leftover: set[int] = set()
        self._chain: dict[int, tuple[int, int] | None] = {}
        self.norms: dict[int, list[float]] = defaultdict(list)
        self.steps: dict[int, int] = defaultdict(int)
        self._reported: tuple[list[KnownParameter], Json] | None = None

    def before(self) -> None:
        """Note which parameters still hold, untouched, a gradient that a step has used."""
        known = self._parameters.known
        for number, (used, norm) in self._resting.items():
            if used == known[number].mark and norm == known[number].norm:
                self._used[number] = used
        self._resting.clear()
        self._candidates = {
            number
            for number, used in self._used.items()
            if used == known[number].mark and known[number].norm > 0
        }
        self._cleared |= self._used.keys() - self._candidates
        self._leftover = {
            number for number in self._leftover if self._chain[number] == known[number].mark
        }

    def received(self, known: KnownParameter) -> None:
        """Note that a backward call has added to a parameter's gradient."""
        self._used.pop(known.id, None)
        tensor = known.tensor()
        if known.id in self._candidates and tensor is not None:
            self._leftover.add(known.id)
            self._values[known.id] = values_of(tensor)
        if known.id in self._leftover:
            self._chain[known.id] = known.mark

    def stepped(
        self, optimizer: int, owned: list[KnownParameter], *, early: bool
    ) -> list[KnownParameter]:
        """Return the parameters that a step has moved along gradients with older ones in them.

        Values are compared `early` only.
        """
        moved = [known for known in owned if self._has_moved(known, early)]
        over = [known for known in moved if known.id in self._leftover]
        stale = [known for known in over if self._is_as_reached(known)]
        self._leftover -= {known.id for known in over}
        for known in moved:
            if known.mark is not None:
                self._used[known.id] = known.mark
        self.steps[optimizer] += 1
        if stale:
            self.norms[optimizer].append(sum(known.norm**2 for known in stale) ** 0.5)
        return stale

    def never_cleared(self, stale: list[KnownParameter]) -> bool:
        """Return True if nothing has ever cleared any of them between a step and a backward."""
        return self._cleared.isdisjoint(known.id for known in stale)

    def reported(self, stale: list[KnownParameter], fields: Json) -> None:
        """Note that these were reported as never cleared."""
        self._reported = self._reported or (stale, fields)

    def never_cleared_at_all(self) -> Iterator[Json]:
        """Yield what was reported as never cleared if that holds at the end, too."""
        if self._reported is not None and self.never_cleared(self._reported[0]):
            yield {**self._reported[1], "detail": NEVER}

    def rest(self) -> None:
        """Forget what one call leaves for the next: those that follow are not examined. A gradient
        that a step has used is known again by its norm, if none of them touches it.
        """
        known = self._parameters.known
        for number, used in self._used.items():
            if used == known[number].mark and (norm := known[number].norm) > 0:
                self._resting[number] = used, norm
        for kept in (self._used, self._values, self._chain):
            kept.clear()
        for numbers in (self._candidates, self._leftover):
            numbers.clear()

    def _is_as_reached(self, known: KnownParameter) -> bool:
        """Return True if a parameter's gradient is still the tensor that backward last added to.

        A script may put another one in its place.
        """
        reached, now = self._chain.get(known.id), known.mark
        return reached is None or now is None or reached[0] == now[0]

    def _has_moved(self, known: KnownParameter, early: bool) -> bool:
        """Return True if the step has used its gradient.

        A group may wait for a later step, or stay as it is; and a write through `.data` changes no
        version.
        """
        tensor, written = known.tensor(), known.changed_by == CLOCK.steps
        if tensor is None or not early or (written and known.id not in self._leftover):
            return written
        now = values_of(tensor)
        before, self._values[known.id] = self._values.get(known.id, now), now
        return before != now
