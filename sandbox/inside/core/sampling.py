"""Which of an endless series of events are looked at closely, and which of those are recorded."""

from __future__ import annotations

from collections.abc import Callable

from .clock import CLOCK

FIRST = 64
NEW = 24  # calls of a line that are looked at closely, and
AROUND = 4  # as many that follow each of them
STEPS, MOST = 8, 512  # so do the first steps, within so many calls: one may take many
WINDOW, EVERY, SELDOM = 16, 1024, 4096  # later, so many in a row: of 1024, of 2048, of 4096


def sampled(n: int) -> bool:
    """Return True for the first 64, then for every eighth, then for 64 in each doubling of `n`."""
    return n <= FIRST or n % (1 << max(3, n.bit_length() - 7)) == 0


def doubling(n: int) -> bool:
    """Return True for the first 8, then for every power of two."""
    return n <= 8 or n & (n - 1) == 0


class CallSampler:
    """Decides which backward calls, with the steps that follow them, are looked at closely.

    What is new is: the first calls of each line, and of each optimizer, and one whose graph may
    have nodes made where none was made before; and from time to time, ever more seldom, a row of
    calls, as what is wrong shows between one call and the next. In between, nothing is compared:
    `on_rest` is called as that begins, and `on_return` as it ends.
    """

    def __init__(self, *, always: bool = False) -> None:
        self.close = True
        self.looked = 0  # calls
        self.on_rest: list[Callable[[], None]] = []
        self.on_return: list[Callable[[], None]] = []
        self._always = always
        self._until = NEW
        self._sites = 0

    def begin(self, n: int, iteration: int) -> bool:
        """Return True if a call is looked at: the run's `n`-th, its line's `iteration`-th."""
        if iteration <= NEW or CLOCK.sites != self._sites:
            self._sites = CLOCK.sites
            self._until = max(self._until, n + AROUND)
        new = n <= self._until or (n <= MOST and 0 < CLOCK.steps < STEPS)
        every = min(max(1 << (n.bit_length() - 1), EVERY), SELDOM)
        close = self._always or new or n % every < WINDOW
        if close != self.close:
            self._turn(close)
        self.looked += close
        return close

    def renew(self, n: int) -> None:
        """Record that something new was made after so many calls."""
        self._until = max(self._until, n + NEW)

    def wake(self) -> None:
        """Look closely from now on, since something has failed."""
        if not self.close:
            self._turn(True)

    def _turn(self, close: bool) -> None:
        self.close = close
        for listener in self.on_return if close else self.on_rest:
            listener()
