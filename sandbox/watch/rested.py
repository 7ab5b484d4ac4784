"""Repeat a measurement, with pauses that leave most of the time to what is measured."""

from __future__ import annotations

import time
from collections.abc import Callable
from dataclasses import dataclass

_REST = 4.0


@dataclass
class Rested:
    """A measurement that is made when asked for, but for no more than a fifth of the time.

    Many processes take long to measure; most of the time must still be theirs. Time in which they
    kept this process from running does not count, or a fork bomb would win by it.
    """

    measure: Callable[[int], None]
    _next: float = 0.0

    def __call__(self, proc: int) -> None:
        """Measure, using the run's open /proc, unless it is too early."""
        if time.monotonic() < self._next:
            return
        began = time.thread_time()
        self.measure(proc)
        self._next = time.monotonic() + _REST * (time.thread_time() - began)
