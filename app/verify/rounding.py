"""Whether what differs in single precision, and not in double, is rounding.

A run in double draws the script's own random numbers, and so stays within rounding of its plain
run. A change that does something else where numbers are single is further from its own run in
double than the original is.
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
    """Whether the first difference of two plain runs is no more than their rounding: each is
    as near to its own run in double, up to that step, as the other."""
    (one, other), (exact, other_exact) = plain, double
    if not (one.trace and other.trace and exact.trace and other_exact.trace):
        return False
    ours = _distance(one.trace, exact.trace, first.ours)
    theirs = _distance(other.trace, other_exact.trace, first.theirs)
    return theirs <= LIKE * max(ours, TOLERANCE)


def _distance(plain: Trace, double: Trace, until: Step | None) -> float:
    """How far a run is from the same in double, up to a step; infinity where it is another one."""
    end = inf if until is None else until.n or until.count
    found = [d for d in compare(plain, double).differences if _when(d) <= end]
    if any(d.kind not in NUMERIC for d in found):
        return inf
    return max((d.gap or 0.0 for d in found), default=0.0)


def _when(difference: Difference) -> float:
    step = difference.ours
    return difference.order if step is None else step.n or step.count
