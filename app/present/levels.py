"""How far a fix may be applied without being read."""

from __future__ import annotations

from typing import TYPE_CHECKING

from analyzers.explain.listed import some
from analyzers.explain.pattern import patterns
from app.schema_types import Gradients, Level, Verified

if TYPE_CHECKING:
    from app.repair.tested_candidate import TestedCandidate

_NOT_SENT = "is not in the files that were sent"  # as `sandbox.inside.harness.assumptions` says
_FAULTY = "the gradients, which are the fault, stay the same"


def graded(trial: TestedCandidate) -> tuple[Level, str]:
    """Return the level of a tested fix; and why it is unsafe, if its effect does not say so.

    A fix is not safe if what the script imports from modules that were not sent was synthesized:
    the real ones may do what the fix does not bear.
    """
    level = level_of(
        trial.status,
        trial.gradients,
        trial.candidate.pattern,
        faulty_gradients=trial.measured.doubted,
        derivative=trial.is_derivative,
    )
    assumed = trial.run.trace.assumed if trial.run.trace is not None else []
    if level == "safe" and (stubs := [one.name for one in assumed if _NOT_SENT in one.text]):
        return "unsafe", f"tested with a stub for {some(stubs)}, which was not sent"
    same = level == "unsafe" and trial.gradients == "same"
    return level, _FAULTY if same else ""


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
