"""Run a candidate patch in the sandbox and judge it by its recorded behaviour."""

from __future__ import annotations

from collections.abc import Awaitable, Callable
from dataclasses import replace

from analyzers.explain.listed import counted
from analyzers.request.causes import Candidate
from app.repair import checks, loss_coverage, numerical, schedule
from app.repair.effects import Measured, renumbered
from app.repair.late_gradients import loses_gradients_late
from app.repair.learning import UNFED, feeds_at_fault, learns
from app.repair.measuring import measure, same_gradient
from app.repair.original import PATIENCE_S, Original
from app.repair.own_cuts import cut_off_before
from app.repair.schedule import ScheduleComparison
from app.repair.tested_candidate import OF_GRADIENTS, TestedCandidate
from app.run import outcome
from app.schemas import Check
from sandbox.protocol import Job, RunResult
from sandbox.records import Trace

OnPassed = Callable[["TestedCandidate"], Awaitable[None]]
"""A callback for a patch that has passed its checks, while others are still running."""


async def trial_of(original: Original, turn: int, candidate: Candidate) -> TestedCandidate:
    """Run a candidate as it is and, if that went well, with its parameters held still; judge it."""
    job = original.job(candidate.files)
    if outcome.may_differentiate(candidate.files):
        job = job.model_copy(update={"gradcheck": True})
    result = await original.attempt(job)
    lines = checks.changed_by(original.files, candidate.files)
    trial = TestedCandidate(candidate, result, turn=turn, lines=lines)
    held = await original.held("kept") if result.status == "raised" else None
    trial.checks = [_reproduced(original), checks.runs(result, original.run, held)]
    if trial.status == "passed":
        still = {"frozen_steps": True, "patience_s": 0.0, "unmoved": await original.unmoved()}
        still["gradcheck"] = False
        holding = job.model_copy(update=still)
        fixed = trial.held = await original.attempt(holding)
        trial.checks += await _compared(original, trial, fixed, holding)
        kept = (await original.held("kept")).trace if await original.reaches("kept") else None
        trial.checks += [checks.fresh(result.trace, original.run, kept)]
        trial.checks += [checks.bounded(result.trace, kept)]
        compared = numerical.gradcheck(result.trace, original.files, candidate.files)
        trial.checks += [compared] if compared is not None else []
        other = checks.no_other_fault(result, original.run, kept)
        trial.checks += [other] if other is not None else []
        trial.is_derivative = numerical.proves(result.trace, original.files, candidate.files)
    trial.checks.append(checks.minimal(lines, same=trial.gradients == "same"))
    runs = [result, original.run, *([trial.held] if trial.held is not None else [])]
    tampered = [said for run in runs for said in run.tampered]
    return _unproven(trial, tampered) if tampered else trial


def _reproduced(original: Original) -> Check:
    raised = original.run.status == "raised"
    return Check(
        name="reproduced",
        status="passed" if raised else "not_run",
        detail="the original raised it in the same sandbox"
        if raised
        else "the original raised nothing",
    )


def _unproven(trial: TestedCandidate, tampered: list[str]) -> TestedCandidate:
    """Withdraw every passed check that rests on records, because the script tampered with the
    tracer.
    """
    why = f"the script changed what it is observed through: {'; '.join(tampered[:3])}"
    trial.measured, trial.schedule = Measured(), ScheduleComparison("unknown")
    trial.is_derivative = False
    trial.checks = [
        check.model_copy(update={"status": "not_run", "detail": why})
        if check.status == "passed" and check.name not in ("reproduced", "minimal")
        else check
        for check in trial.checks
    ]
    return trial


async def _compared(
    original: Original, trial: TestedCandidate, fixed: RunResult, job: Job
) -> list[Check]:
    """Compare the patch at fixed parameters, the result of `job`, with the original's references.
    Return the checks.
    """
    own = await original.mathematics()
    held = own.run
    trace = fixed.trace if outcome.len_backwards(fixed) else None
    if trace is not None and held.trace is not None:
        trace = renumbered(held.trace, trace)
    reference = held.trace if own.reaches and trace is not None else None
    trial.leaves = _leaves(trace or trial.run.trace, held.trace or original.run.trace)
    trial.nodes = _nodes(trace or trial.run.trace)
    trial.retains = _retains(trial.run) > (0 if _hides(original.run) else _retains(original.run))
    trial.keeps_growing = checks.needless(trial.run.trace) > 0
    faults = outcome.silent_kinds(original.run)
    intended = "; ".join(what for kind, what in OF_GRADIENTS.items() if kind in faults)
    completed = original.failing_call if original.run.status == "raised" else 0
    measured = await measure(original, own, trace, job)
    if measured.gradients == "same" and feeds_at_fault(reference, original.run.trace):
        intended = "; ".join(OF_GRADIENTS[k] for k in OF_GRADIENTS if k in faults - {UNFED})
    trial.measured = replace(measured, intended=intended, completed=completed)
    if reference is None and trace is not None:
        trial.unsteady = schedule.idle(trace)
    if reference is not None and trace is not None:
        ended = held.status == fixed.status == "finished"
        trial.schedule = schedule.compare_steps(reference, trace, ended=ended)
        if not trial.schedule.problem:
            pooled = schedule.pooled(reference, trace, measured.kept)
            trial.schedule = pooled or trial.schedule
        trial.unsteady = (
            loses_gradients_late(reference, trace)
            or schedule.repeated_backward(trace)
            or schedule.untrained_loss(reference, trace)
            or (schedule.reused(trace) if intended else "")
            or checks.keeps_growing(trace)
        )
        trial.feeds_others = loss_coverage.feeds_others(reference, trace)
        trial.loses_gradient = loss_coverage.loses_gradient(reference, trace)
    if trial.run.trace is not None:
        trial.schedule = schedule.piled(trial.run.trace) or trial.schedule
    return [
        learns(
            reference,
            trace or trial.run.trace,
            original.run.trace,
            trial.run.trace,
            {p for record in checks.spared(trial.run, original.run) for p in record.params},
            cut_off_before(trial.run, original.files, trial.candidate.files),
        ),
        same_gradient(trial.measured),
        trial.schedule.check,
        _covered(trial, held.trace, reference, trace),
    ]


def _covered(
    trial: TestedCandidate, kept: Trace | None, reference: Trace | None, trace: Trace | None
) -> Check:
    """Check that every loss is still backpropagated. Equal gradients contain the share of every
    loss; others do not show which losses made them.
    """
    if trial.gradients == "same" and trial.measured.cancels:
        detail = "what the loss compares is made of the same weights: its gradients cancel"
        return Check(name="covered", status="failed", detail=detail)
    if trial.gradients == "same":
        steps = len(trial.measured.kept.differences)
        detail = f"equal gradients in {counted(steps, 'step')} hold every loss"
        return Check(name="covered", status="passed", detail=detail)
    if kept is not None and trace is not None:
        if lost := loss_coverage.lost_terms(kept, trace, trial.measured.completed):
            return Check(name="covered", status="failed", detail=lost)
        of_first = loss_coverage.OF_FIRST in trial.candidate.strategy
        if of_first and trial.measured.early:  # its own step lost what the loss is for
            if less := loss_coverage.shortened(kept, trace, trial.measured.completed):
                return Check(name="covered", status="failed", detail=less)
        if not trial.measured.doubted and (idle := loss_coverage.wasted(kept, trace)):
            return Check(name="covered", status="failed", detail=idle)
        if idle := loss_coverage.undifferentiated(kept, trace):
            return Check(name="covered", status="failed", detail=idle)
    if reference is None or trace is None:
        detail = "the original cannot be followed past its failure"
        return Check(name="covered", status="not_run", detail=detail)
    return loss_coverage.covered(reference, trace)


def _leaves(trace: Trace | None, original: Trace | None) -> int:
    """Return how many leaves that the original knows, parameters or not, ever get a gradient."""
    if trace is None:
        return 0
    known = {p.name for p in original.parameters} if original is not None else set()
    own = {p.id for p in trace.parameters if p.optimizer is not None or p.name in known}
    return len(own & {p for record in trace.backwards for p in record.received})


def _nodes(trace: Trace | None) -> int:
    """Return how many nodes the first backward calls reach: of two cuts, the
    later one keeps more.
    """
    return sum(record.nodes for record in trace.backwards[:24]) if trace is not None else 0


def _hides(result: RunResult) -> bool:
    """Return True if a retained graph went through backward after a step that
    changed its weights.
    """
    records = result.trace.backwards if result.trace else []
    return any(record.stale and record.call.retain for record in records)


def _retains(result: RunResult) -> int:
    """Return at how many lines graphs are retained without being needed for higher derivatives."""
    records = result.trace.backwards if result.trace else []
    return len({r.call.at.line for r in records if r.call.retain and not r.call.create_graph})


async def run_plain(original: Original, trial: TestedCandidate) -> None:
    """Run the patch once more without the tracer, as the user will. Nothing counts calls in this
    run, so if the traced run was stopped, this one gets the time that the traced run took.
    """
    job = original.job(trial.candidate.files)
    limit = job.time_limit_s
    if trial.run.status != "finished":
        limit = min(limit, trial.run.ran_s + PATIENCE_S)
    result = await original.attempt(
        Job(files=job.files, entry=job.entry, mode="plain", time_limit_s=limit)
    )
    position = next(i for i, check in enumerate(trial.checks) if check.name == "runs")
    seen = trial.checks[position].detail
    if result.status in ("finished", "stopped", "timed_out"):
        detail = f"{seen}; and once more without instrumentation"
    elif outcome.is_inconclusive(result) or trial.run.status == "raised":
        detail = f"{seen}; not run once more without instrumentation: {outcome.ending(result)}"
    else:
        detail = f"without instrumentation: {outcome.ending(result)}"
        trial.checks[position] = Check(name="runs", status="failed", detail=detail)
        return
    trial.checks[position] = Check(name="runs", status="passed", detail=detail)
