"""Find optimizers of which only the last backward call before a step counts: what earlier calls of
the same line gave is cleared each time."""

from __future__ import annotations

from collections import Counter, defaultdict
from dataclasses import dataclass
from types import FrameType

from ..core.backward_site import TracedBackward
from ..core.engine import Call
from ..core.frames import Json, place
from ..core.parameters import KnownParameter
from .details import PARTLY

ENOUGH = 3  # steps in a row that lose gradients
LOOKED = 4  # parameters of an optimizer that are looked at
MOST = 64  # names that are reported

Line = tuple[object, int]


@dataclass
class _Given:
    """What a backward call gave an optimizer: `some` of its parameters, which show a clearing."""

    line: Line
    call: TracedBackward
    some: list[KnownParameter]

    def is_cleared(self) -> bool:
        """Return True if their gradients are gone."""
        return bool(self.some) and not any(known.norm for known in self.some)


class DiscardedGradients:
    """Counts, from step to step of an optimizer, calls of the line whose gradients it then uses
    that had given gradients before, which were cleared."""

    def __init__(self) -> None:
        self._given: dict[int, _Given] = {}
        self._lost: dict[int, Counter[Line]] = defaultdict(Counter)
        self._rows: dict[int, list[int]] = defaultdict(list)
        self._found: dict[int, Json] = {}

    def before(self) -> None:
        """See whether what the calls before have given was cleared."""
        for optimizer, given in list(self._given.items()):
            if given.is_cleared():
                self._lost[optimizer][given.line] += 1
                del self._given[optimizer]

    def after(self, call: Call) -> None:
        """Note what a call has given."""
        if call.frame is None:
            return
        line, alone = (call.frame.f_code, call.frame.f_lineno or 0), call.alone()
        for optimizer in {k.optimizer for k in call.received if k.optimizer is not None}:
            owned = [known for known in call.received if known.optimizer == optimizer]
            some = [known for known in owned[:LOOKED] if known.norm]
            self._given[optimizer] = _Given(line, alone, some)

    def stepped(self, optimizer: int, owned: list[KnownParameter], frame: FrameType | None) -> None:
        """Count what was lost since the last step."""
        given, lost = self._given.pop(optimizer, None), self._lost.pop(optimizer, Counter())
        row = self._rows[optimizer]
        row.append(lost[given.line] if given is not None and not given.is_cleared() else 0)
        if len(row) < ENOUGH or not all(row[-ENOUGH:]) or given is None or frame is None:
            self._found.pop(optimizer, None)
            return
        self._found[optimizer] = {
            "at": place(frame),
            "call": given.call.record(),
            "params": [known.name for known in owned if known.name][:MOST],
            "figures": [float(count) for count in row[-ENOUGH:]],
            "detail": PARTLY,
        }

    def rest(self) -> None:
        """Forget what calls gave: those that follow are not looked at."""
        self._given.clear()
        self._lost.clear()

    def found(self) -> Json | None:
        """Return the first optimizer that loses gradients before each step, to the last that was
        looked at."""
        return next(iter(self._found.values()), None)
