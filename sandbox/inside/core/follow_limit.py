"""How long a run is followed: training goes on for hours, its faults show in the first passes."""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass, field

from .clock import CLOCK
from .engine import Calls
from .frames import Json

MANY, SOME = 40, 8  # calls of one line: enough at once, enough for a slow script
LIMITS = ("stop_after_steps", "stop_after_s", "stop_after_backwards", "follow_s")
SLOWER = 2.5  # a slow script is followed for so much longer


@dataclass
class FollowLimit:
    """Asked as each backward call begins, whether the run has shown what was asked of it. `steps`
    counts those taken so far."""

    job: Json
    clock: Callable[[], float]
    steps: Callable[[], int]
    _begun: float = field(init=False)
    _first_step: float = float("inf")  # seconds into the run, as the next call begins
    _first_call: float = float("inf")  # seconds into the run
    _lines: int = 0
    _since: int = 0  # backward calls when the latest line was first seen

    def __post_init__(self) -> None:
        self._begun = self.clock()

    @property
    def is_limited(self) -> bool:
        """Return True if the job ends a run that goes on."""
        return any(self.job.get(name) is not None for name in LIMITS)

    def enough(self, calls: Calls) -> bool:
        """Return True if as many calls have been made as the job names.

        Calls that take long need to be fewer: `least_backwards`, `brief_s` after the first one.
        Also return True if the same lines have called, again and again, for as long as it says.
        """
        if len(calls) != self._lines:
            self._lines, self._since = len(calls), CLOCK.calls
        ran = self.clock() - self._begun
        most_steps, most_s = self.job.get("stop_after_steps"), self.job.get("stop_after_s")
        if most_steps is not None and self.steps() >= int(most_steps):
            return True
        if most_s is not None and self.steps() > 0:
            self._first_step = min(self._first_step, ran)
            if ran - self._first_step >= float(most_s):
                return True
        wanted = self.job.get("stop_after_backwards")
        if wanted is not None:
            wanted = self._fewer(int(wanted), ran)
            return CLOCK.calls >= wanted and ran >= float(self.job.get("patience_s") or 0.0)
        patience = self.job.get("follow_s")
        if patience is None or ran < float(patience):
            return False
        if 2 * self._since > CLOCK.calls:  # something new was seen just now
            return False
        most = max(calls.values(), default=0)
        return most >= MANY or (most >= SOME and ran >= SLOWER * float(patience))

    def _fewer(self, wanted: int, ran: float) -> int:
        """Return how many calls are enough, so many seconds into the run."""
        brief_s, least = self.job.get("brief_s"), self.job.get("least_backwards")
        self._first_call = min(self._first_call, ran)
        if brief_s is None or least is None or ran - self._first_call < float(brief_s):
            return wanted
        return min(wanted, int(least))
