"""What instruments may cost the script that they look at, and what happens to those that cost more.

The time that each of them takes is counted in one place. One that has taken more than its share of
the time since it was put in place is taken off, and the run's notes say so.
"""

from __future__ import annotations

import time
from collections.abc import Callable
from dataclasses import dataclass, field
from typing import Any

from .internal_errors import slipped

SHARE = 0.1  # of the time since it was put in place
ALLOWANCE_S = 0.5  # that each may take in any case

now = time.perf_counter  # as a script may replace that later


@dataclass(eq=False, slots=True)
class InstrumentTime:
    """The time of one instrument. `limited`: whether it may be taken off, by `take_off`."""

    name: str
    notes: list[str]
    limited: bool = False
    take_off: Callable[[], None] | None = None
    since: float = field(default_factory=now)
    spent: float = 0.0
    closed: bool = False

    def call(self, listener: Callable[..., Any], *news: Any) -> None:
        """Call what belongs to the instrument; what it raises is noted, and goes no further."""
        if self.closed:
            return
        began = now()
        try:
            listener(*news)
        except Exception as error:
            slipped(listener, error, self.notes)
        self.spent += now() - began
        if self.limited and self.spent > ALLOWANCE_S:
            self._judge()

    def charge(self, began: float) -> None:
        """Count the time since then, and close the account where that is too much."""
        self.spent += now() - began
        if self.limited and self.spent > ALLOWANCE_S:
            self._judge()

    def _judge(self) -> None:
        lived = now() - self.since
        if self.closed or self.spent <= ALLOWANCE_S + SHARE * lived:
            return
        self.closed = True
        if self.take_off is not None:
            self.take_off()
        self.notes.append(
            f"{self.name}: not looked at beyond the first {lived:.1f} s, {self.spent:.1f} s of "
            "which that had taken"
        )


class Budget:
    """The accounts of a run's instruments, by what they watch; `limited`: none may cost more than
    its share. `notes` are for who reads the run's records."""

    def __init__(self, *, limited: bool = False) -> None:
        self.notes: list[str] = []
        self._limited = limited
        self._accounts: dict[str, InstrumentTime] = {}

    def account(self, name: str) -> InstrumentTime:
        """Return an instrument's account, opened on first use."""
        if name not in self._accounts:
            self._accounts[name] = InstrumentTime(name, self.notes, self._limited)
        return self._accounts[name]
