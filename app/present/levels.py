"""How far a fix may be applied without being read."""

from __future__ import annotations

from analyzers.explain.pattern import patterns
from app.schema_types import Gradients, Level, Verified


def level_of(
    status: Verified,
    gradients: Gradients,
    pattern: str,
    *,
    faulty_gradients: bool = False,
    derivative: bool = False,
) -> Level:
    """Return the level of a fix that `pattern` proposed.

    `safe`: it passed, and the gradients stay the same; or they are truncated where the pattern is
    about a recurrent state, since that is what truncated backpropagation through time means; or it
    makes a Function's backward the numerical derivative of its forward.
    `unsafe`: it passed otherwise. `display_only`: it was only read, or failed a check.
    `faulty_gradients`: the original's gradients are the fault, so that equal ones prove nothing.
    `derivative`: what cannot be compared with the original is the numerical derivative.
    """
    if status != "passed":
        return "display_only"
    known = patterns().get(pattern)
    if gradients == "truncated" and getattr(known, "RECURRENT", False):
        return "safe"
    if gradients == "unknown" and derivative:
        return "safe"
    return "safe" if gradients == "same" and not faulty_gradients else "unsafe"
