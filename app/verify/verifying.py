"""Both versions run, the original twice; their steps are compared."""

from __future__ import annotations

import asyncio
from collections.abc import Sequence

from app.repair.effects import TOLERANCE, Comparison, compare
from app.run import outcome
from app.verdict import ComparisonCheck, ComparisonStatus, Sameness, Verdict, Witness
from app.verify.version import Progress, Version, silent
from sandbox.protocol import RunResult, Session
from sandbox.records import Trace


async def verify(
    before: Version,
    after: Version,
    session: Session,
    *,
    time_limit_s: float = 20.0,
    steps: int | None = None,
    progress: Progress = silent,
) -> Verdict:
    """Return whether `after` trains as `before` does.

    Every run is made in `session` within `time_limit_s`; at most the first `steps` steps are
    compared. Never raises for what the scripts do: what cannot be compared says why.
    """
    await progress("verifying", 0, 3, "Running the original")
    first = await session.run(before.job(time_limit_s))
    if (why := _unusable("the original", first)) is not None:
        return Verdict(verdict="not_comparable", summary=why)
    await progress("verifying", 1, 3, "Running the original again, and the changed version")
    again, changed = await asyncio.gather(
        session.run(before.job(time_limit_s)), session.run(after.job(time_limit_s))
    )
    await progress("verifying", 3, 3, "Comparing")
    return _judged(first, again, changed, steps)


def _judged(first: RunResult, again: RunResult, changed: RunResult, steps: int | None) -> Verdict:
    control = _compared(first, again, steps)
    checks = [_check("control", control)]
    if not control.whole:
        summary = "The original does not repeat itself: two runs of it differ."
        witness = _witness(first, again, control)
        return Verdict(verdict="not_comparable", summary=summary, witness=witness, checks=checks)
    if changed.status == "raised" and not changed.tampered:
        summary = f"The changed version raises {outcome.ending(changed)}."
        return Verdict(verdict="breaks", summary=summary, checks=checks)
    if (why := _unusable("the changed version", changed)) is not None:
        return Verdict(verdict="not_comparable", summary=why, checks=checks)
    plain = _compared(first, changed, steps)
    checks.append(_check("plain", plain))
    word: Sameness = "same" if plain.whole else "changed"
    number = len(plain.differences)
    equal = _equal_before_first(plain)
    said = f"all {number} steps" if plain.whole else f"{equal} of {number} steps before the first"
    return Verdict(
        verdict=word,
        summary=f"Gradients are the same in {said} that were compared.",
        witness=None if plain.whole else _witness(first, changed, plain),
        steps_compared=number,
        steps_equal=equal,
        checks=checks,
    )


def _unusable(who: str, run: RunResult) -> str | None:
    """Why nothing can be compared with a run; None where it can."""
    if run.tampered:
        return f"Nothing can be said: {who} changed what it is observed through."
    if run.status not in ("finished", "stopped"):
        return f"Nothing can be compared: {who} ended with {outcome.ending(run)}."
    if run.trace is None or not run.trace.steps:
        return f"Nothing can be compared: {who} takes no step."
    return None


def _compared(one: RunResult, other: RunResult, steps: int | None) -> Comparison:
    if one.trace is None or other.trace is None or other.status not in ("finished", "stopped"):
        return Comparison("kept")
    comparison = compare("kept", _cut(one.trace, steps), _cut(other.trace, steps))
    ended, others = one.trace.ended, other.trace.ended
    if steps is None and ended and others and ended.steps != others.steps:
        gaps = [*comparison.differences, (one.trace.steps[-1], 1.0)]
        return Comparison("kept", gaps)
    return comparison


def _cut(trace: Trace, steps: int | None) -> Trace:
    if steps is None:
        return trace
    return trace.model_copy(update={"steps": [s for s in trace.steps if s.n <= steps]})


def _check(name: str, comparison: Comparison) -> ComparisonCheck:
    number = len(comparison.differences)
    status: ComparisonStatus = "passed" if comparison.whole else "differs"
    if not number:
        status = "not_run"
    detail = f"gradients equal in {comparison.equal} of {number} steps"
    return ComparisonCheck.model_validate({"name": name, "status": status, "detail": detail})


def _equal_before_first(comparison: Comparison) -> int:
    gaps: Sequence[float] = [gap for _, gap in comparison.differences]
    return next((n for n, gap in enumerate(gaps) if gap > TOLERANCE), len(gaps))


def _witness(one: RunResult, other: RunResult, comparison: Comparison) -> Witness | None:
    for step, gap in comparison.differences:
        if gap > TOLERANCE:
            line = step.at.line if step.at is not None else None
            return Witness(
                step=step.n, what="gets another gradient", difference=gap, line_before=line
            )
    return None
