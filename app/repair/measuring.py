"""Compare the gradients of a patched run with the references."""

from __future__ import annotations

import asyncio
from dataclasses import replace

from app.repair.effects import (
    Against,
    Measured,
    ReferenceComparison,
    cancels,
    compare,
    renumbered,
)
from app.repair.original import Mathematics, Original
from app.run import outcome
from app.schemas import Check
from sandbox.protocol import Job, Reference
from sandbox.records import Trace

HOLDING: tuple[Reference, ...] = ("constant_targets", "truncated")  # something constant
ROUNDED = 1e-2  # of a norm: a smaller difference in single precision may be rounding


async def measure(original: Original, own: Mathematics, trace: Trace | None, job: Job) -> Measured:
    """Compare with the reference that keeps every graph; if that differs, with those that hold
    something constant, until one is equal.
    """
    if own.run.trace is None or trace is None:
        return Measured()
    if outcome.len_backwards(own.run) == 0:
        return Measured(too_early=not own.reaches)

    async def against(name: Against, reference: Reference, theirs: Trace) -> ReferenceComparison:
        single = compare(name, theirs, trace)
        if single.whole or not 0 < single.worst <= ROUNDED:
            return single
        return await _in_double(original, single, reference, job)

    comparison = await against("kept", own.reference, own.run.trace)
    if not comparison.differences:
        return Measured(comparison, too_early=not own.reaches)
    if comparison.whole or not own.reaches:
        cut = await original.was_cut_short(own.reference)
        past = await original.with_constant_history() if own.reaches else None
        taken_back = past is not None and cancels(own.run.trace, past)
        return Measured(comparison, whole_story=own.reaches, cut_short=cut, cancels=taken_back)
    if own.constant is not None:
        constant = await against("constant", "kept", own.constant)
        if constant.whole:
            return Measured(comparison, constant)
    if (theirs := await original.with_constant_targets()) is not None:
        constant = await against("constant_targets", "constant_targets", theirs)
        if constant.whole:
            return Measured(comparison, constant)
    other = None
    if (theirs := await original.with_constant_history()) is not None:
        other = await against("truncated", "truncated", theirs)
    short = [await original.was_cut_short(each) for each in HOLDING]
    return Measured(comparison, other, cut_short=any(short))


async def _in_double(
    original: Original, single: ReferenceComparison, reference: Reference, job: Job
) -> ReferenceComparison:
    """Compare once more in double precision, because gradients differ by so little that it may be
    rounding. Return the comparison in single precision if they differ in double, too.
    """
    exact = {"double": True}
    theirs, ours = await asyncio.gather(
        original.attempt(original.reference_job(reference).model_copy(update=exact)),
        original.attempt(job.model_copy(update=exact)),
    )
    if theirs.trace is None or ours.trace is None:
        return single
    found = compare(single.against, theirs.trace, renumbered(theirs.trace, ours.trace))
    double = replace(found, double=True)
    return double if double.whole and len(double.differences) >= len(single.differences) else single


def same_gradient(measured: Measured) -> Check:
    """Check whether the gradients equal a reference; a patch may change them, and says so. If they
    are equal only up to the original's failure, nothing past it was compared.
    """
    nearest: ReferenceComparison = measured.nearest
    detail = measured.effect().text
    if not nearest.differences:
        return Check(name="same_gradient", status="not_run", detail=detail)
    if not nearest.whole:
        status = "not_run" if measured.cut_short else "differs"
        return Check(name="same_gradient", status=status, detail=detail)
    if not measured.whole_story:
        detail = f"Nothing past the failure could be compared. {detail}"
        return Check(name="same_gradient", status="not_run", detail=detail)
    detail += f" Within {max(nearest.worst, 1e-7):.0e}."
    return Check(name="same_gradient", status="passed", detail=detail)
