"""Leave out terms of a loss that train nothing, where nothing is lost by that."""

from __future__ import annotations

from dataclasses import replace

from analyzers.evidence import SilentFault
from analyzers.repair.edit_search.uncut import CONSTANT, NUMBER
from app.repair.repairing import RepairResult
from app.run.observation import Observation


def without_idle_terms(seen: Observation, result: RepairResult) -> tuple[Observation, RepairResult]:
    """Return what was seen and tried without a term of the loss that is a number, if each patch
    that gives it a graph leaves every gradient as it was: the largest score that a log-sum-exp is
    shifted by, the level of a flooded loss. A penalty that is cut off otherwise may be zero only
    while parameters are held.
    """
    terms = [p for p in seen.evidence if isinstance(p, SilentFault) and p.kind == CONSTANT]
    passed = [trial for trial in result.trials if trial.status == "passed"]
    idle = bool(passed) and all(trial.gradients == "same" for trial in passed)
    idle = idle and all(term.detail == NUMBER for term in terms)
    if not (idle and seen.ran_clean and len(terms) == len(seen.evidence)):
        return seen, result
    return replace(seen, evidence=()), RepairResult([])
