"""Leave out terms of a loss that train nothing, where nothing is lost by that."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import replace
from math import isclose

from analyzers.evidence import SilentFault
from analyzers.repair.edit_search.uncut import CONSTANT, NUMBER
from app.repair.loss_coverage import LOOKED_AT
from app.repair.original import Original
from app.repair.repairing import RepairResult
from app.request.case import Case
from app.run.observation import Observation
from app.run.time_budget import TimeBudget
from sandbox.protocol import Session
from sandbox.records import Trace

ROUNDED = 1e-3  # by which rounding may change a loss, within the updates that are compared


async def without_idle_terms(
    case: Case, seen: Observation, result: RepairResult, session: Session | None, budget: TimeBudget
) -> tuple[Observation, RepairResult]:
    """Return what was seen and tried without a term of the loss that is a number, if each patch
    that gives it a graph leaves every gradient as it was: the largest score that a log-sum-exp is
    shifted by, the level of a flooded loss. A penalty may be zero only while parameters are held:
    then the losses differ where the patch trains.
    """
    terms = [p for p in seen.evidence if isinstance(p, SilentFault) and p.kind == CONSTANT]
    passed = [trial for trial in result.trials if trial.status == "passed"]
    idle = bool(passed) and all(trial.gradients == "same" for trial in passed)
    idle = idle and all(term.detail == NUMBER for term in terms)
    if not (idle and seen.ran_clean and len(terms) == len(seen.evidence)):
        return seen, result
    losses = _losses(seen.trace)
    if not losses and seen.run is not None and session is not None:  # a user's trace has none
        files, limit = case.project.files, case.time_limit_s
        original = Original(files, case.project.entry, seen.run, session, limit, budget)
        losses = _losses((await original.attempt(original.job({}))).trace)
    if not losses or any(_differ(losses, _losses(trial.run.trace)) for trial in passed):
        return seen, result
    return replace(seen, evidence=()), RepairResult([])


def _losses(trace: Trace | None) -> dict[int, float]:
    """Return the losses of the first calls, by their numbers."""
    calls = trace.backwards[:LOOKED_AT] if trace is not None else ()
    return {one.call.n: one.loss for one in calls if one.loss is not None}


def _differ(ours: Mapping[int, float], theirs: Mapping[int, float]) -> bool:
    """Return True if losses differ by more than rounding adds in some updates."""
    both = [(ours[n], theirs[n]) for n in ours.keys() & theirs.keys()]
    return not all(isclose(one, other, rel_tol=ROUNDED, abs_tol=ROUNDED) for one, other in both)
