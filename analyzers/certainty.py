"""Compute how certain a cause is, from what the evidence shows and how the evidence is known.

A pattern states the first as one of four levels. The second is the same for all patterns. The
figure that users see is made of both, here only.
"""

from __future__ import annotations

from enum import IntEnum
from typing import Literal


class Certainty(IntEnum):
    """How much of the evidence a pattern demands; the most certain level is the greatest."""

    USUAL = 1
    """Only the kind of error is known, and this is its usual cause."""
    POSSIBLE = 2
    """The evidence fits, and would fit another cause as well."""
    LIKELY = 3
    """The evidence holds what sets this pattern apart from others."""
    CERTAIN = 4
    """The evidence is the fault itself: nothing else can have made it."""


Basis = Literal["verified", "seen", "bound", "read", "explains", "error"]
"""How the evidence is known: a patch for it was run and passed; a run showed it; reading predicts
the error that was given; reading predicts a fault; reading says that it would explain the error;
the traceback alone says so."""

_IN_FIGURES: dict[Certainty, dict[Basis, float]] = {
    Certainty.CERTAIN: {
        "verified": 0.98, "seen": 0.95, "bound": 0.93, "read": 0.9, "explains": 0.65, "error": 0.4,
    },
    Certainty.LIKELY: {
        "verified": 0.95, "seen": 0.88, "bound": 0.85, "read": 0.8, "explains": 0.6, "error": 0.35,
    },
    Certainty.POSSIBLE: {
        "verified": 0.8, "seen": 0.45, "bound": 0.42, "read": 0.4, "explains": 0.3, "error": 0.2,
    },
    Certainty.USUAL: {
        "verified": 0.75, "seen": 0.3, "bound": 0.3, "read": 0.3, "explains": 0.25, "error": 0.15,
    },
}  # fmt: skip


def confidence(certainty: Certainty, basis: Basis) -> float:
    """Return the figure (0..1) for a level of certainty and the way in which
    the evidence is known.
    """
    return _IN_FIGURES[certainty][basis]
