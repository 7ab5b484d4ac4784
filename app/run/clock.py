"""Measure the time that each stage of a diagnosis takes."""

from __future__ import annotations

import time
from collections import defaultdict
from collections.abc import Iterator
from contextlib import contextmanager

from app.schemas import Timings


class StageClock:
    """Sum up milliseconds by stage."""

    def __init__(self) -> None:
        self._started = time.perf_counter()
        self._ms: dict[str, float] = defaultdict(float)

    @contextmanager
    def stage(self, name: str) -> Iterator[None]:
        """Add the time that the block takes to a stage of `Timings`."""
        began = time.perf_counter()
        try:
            yield
        finally:
            self._ms[name] += 1000 * (time.perf_counter() - began)

    def timings(self) -> Timings:
        """Return the time taken so far, by stage and in total, in ms."""
        total = 1000 * (time.perf_counter() - self._started)
        rounded = {name: round(ms, 1) for name, ms in self._ms.items()}
        return Timings(**rounded, total=round(total, 1))
