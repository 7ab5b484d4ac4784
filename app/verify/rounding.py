"""Decide whether a difference in single precision, absent in double precision, is rounding.

A run in double precision draws the script's own random numbers, so it stays within rounding of its
plain run. If a change has another effect in single precision, its plain run is further from its own
double run than the original's is.
"""

from __future__ import annotations

from math import inf

from app.repair.fingerprints import TOLERANCE
from app.verify.comparing import compare
from app.verify.difference import NUMERIC, Difference
from app.verify.runs import Pair
from sandbox.records import Step, Trace

LIKE = 10.0  # times the original's own rounding


def is_rounding(first: Difference, plain: Pair, double: Pair) -> bool:
    """Return True if the first difference of two plain runs is no more than rounding: up to that
    step, each is as near to its own double run as the other.
    """
    (one, other), (exact, other_exact) = plain, double
    if not (one.trace and other.trace and exact.trace and other_exact.trace):
        return False
    ours = _distance(one.trace, exact.trace, first.ours)
    theirs = _distance(other.trace, other_exact.trace, first.theirs)
    return theirs <= LIKE * max(ours, TOLERANCE)


def _distance(plain: Trace, double: Trace, until: Step | None) -> float:
    """Return how far a run is from the same run in double precision, up to a step; infinity if they
    differ in structure.
    """
    end = inf if until is None else until.n or until.count
    found = [d for d in compare(plain, double).differences if _when(d) <= end]
    if any(d.kind not in NUMERIC for d in found):
        return inf
    return max((d.gap or 0.0 for d in found), default=0.0)


def _when(difference: Difference) -> float:
    step = difference.ours
    return difference.order if step is None else step.n or step.count
