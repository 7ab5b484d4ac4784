"""Pauses, which show nothing: they end at once."""

from __future__ import annotations

import time
from typing import Any

from .finding import Report
from .synthesized import asked_by_user


def install(report: Report) -> None:
    """Let `time.sleep` return; the clock goes on as if it had slept."""
    clocks = {name: getattr(time, name) for name in ("time", "monotonic", "perf_counter")}
    slept = 0.0

    def sleep(seconds: Any) -> None:
        nonlocal slept
        if seconds < 0:
            raise ValueError("sleep length must be non-negative")
        if asked_by_user():
            report("time.sleep", "pauses end at once", "package")
        slept += seconds

    for name, clock in clocks.items():
        setattr(time, name, lambda clock=clock: clock() + slept)
    setattr(time, "sleep", sleep)  # noqa: B010 (others refer to it by this name)
