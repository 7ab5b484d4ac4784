"""Candidate patches compete in the sandbox: all plausible ones run, the best comes first."""

from __future__ import annotations

import asyncio
from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field

from analyzers.classify import Candidate
from app import checks
from app.schemas import Check, CheckStatus
from sandbox.protocol import Job, RunResult, Session
from sandbox.records import Trace

PATIENCE_S = 0.6  # a run past the failing point goes on for so long, then has shown enough
FALLBACK_RANK = 4  # from this rank on a proposal is the second choice of its pattern
_KINDS: Mapping[str, int] = {"same": 0, "truncated": 1, "changed": 1, "unknown": 2}
_CUT_BY_NATURE = ("recurrent-state", "manual-tbptt")
_MAY_BE_CUT = ("step-between-backwards", "retain-graph-leak")


@dataclass(frozen=True)
class Original:
    """The script as it was sent, and what its own runs showed.

    `held` is the run of its own mathematics: parameters held fixed, every graph kept.
    """

    files: Mapping[str, str]
    entry: str
    run: RunResult
    held: RunResult
    time_limit_s: float

    @property
    def reference(self) -> Trace | None:
        """The gradients of the original's own mathematics; None where the original, even so, does
        not get past the call that failed."""
        calls = self.failing_call + (self.run.status == "raised")
        return self.held.trace if checks.len_backwards(self.held) >= max(calls, 1) else None

    @property
    def steps_before(self) -> Trace | None:
        """The same gradients in the steps before the failure, where there were any."""
        trace = self.held.trace
        stepped = trace is not None and any(step.optimizer >= 0 for step in trace.steps)
        return trace if stepped else None

    @property
    def failing_call(self) -> int:
        """Backward calls that the original completed before it failed."""
        return checks.len_backwards(self.run)


@dataclass
class Trial:
    """A candidate with what its runs showed."""

    candidate: Candidate
    run: RunResult
    checks: list[Check] = field(default_factory=list)
    gradients: str = "unknown"
    lines: int = 0
    kept: int = 0

    @property
    def status(self) -> CheckStatus:
        """Failed if any check failed; passed if the patched script was seen to run."""
        if any(check.status == "failed" for check in self.checks):
            return "failed"
        ran = any(check.name == "runs" and check.status == "passed" for check in self.checks)
        return "passed" if ran else "not_run"

    @property
    def order(self) -> tuple[object, ...]:
        """Sort key: checks passed, no last resort, the surest cause, most gradient kept, the
        idiomatic edit, the smallest."""
        failed = sum(check.status == "failed" for check in self.checks)
        return (
            failed > 0,
            self.candidate.last_resort,
            -round(self.candidate.confidence, 1) if failed == 0 else failed,
            self.candidate.rank // FALLBACK_RANK,
            _KINDS[self.gradients],
            -self.kept if self.gradients in ("truncated", "changed") else 0,
            self.candidate.rank,
            self.lines,
        )


async def held_fixed(
    files: Mapping[str, str], entry: str, run: RunResult, session: Session, time_limit_s: float
) -> RunResult:
    """The original once more, with parameters held fixed and every graph kept."""
    return await session.run(
        Job(
            files=dict(files),
            entry=entry,
            reference=True,
            gradients=True,
            stop_after_backwards=_enough(checks.len_backwards(run)),
            patience_s=PATIENCE_S,
            time_limit_s=time_limit_s,
        )
    )


def _enough(calls: int) -> int:
    return max(2 * calls + 8, 24)


async def judge(
    files: Mapping[str, str],
    entry: str,
    patched: Sequence[Mapping[str, str]],
    session: Session,
    time_limit_s: float = 20.0,
) -> list[Trial]:
    """Try repairs that somebody else wrote; best first, as they would be offered.

    `patched` holds, for each repair, the files that it changes; a trial's repair is
    `trial.candidate.files`.
    """
    job = Job(files=dict(files), entry=entry, gradients=True, time_limit_s=time_limit_s)
    run = await session.run(job)
    held = await held_fixed(files, entry, run, session, time_limit_s)
    original = Original(files, entry, run, held, time_limit_s)
    given = [
        Candidate("", f"given {n}", "A repair", dict(texts), "unknown", "", 1.0, 0)
        for n, texts in enumerate(patched, 1)
    ]
    return await try_out(original, given, session)


async def try_out(
    original: Original, candidates: Sequence[Candidate], session: Session
) -> list[Trial]:
    """Run every candidate, best first; the launcher bounds how many run at once."""
    trials = await asyncio.gather(*(_trial(original, c, session) for c in candidates))
    ordered = sorted(trials, key=lambda trial: trial.order)
    for trial in ordered:
        if trial.status == "passed":
            await _run_plain(original, trial, session)
            if trial.status == "passed":
                break
    return sorted(ordered, key=lambda trial: trial.order)


async def _trial(original: Original, candidate: Candidate, session: Session) -> Trial:
    files = {**original.files, **candidate.files}
    job = Job(
        files=files,
        entry=original.entry,
        gradients=True,
        stop_after_backwards=_enough(original.failing_call),
        patience_s=PATIENCE_S,
        time_limit_s=original.time_limit_s,
    )
    result = await session.run(job)
    minimal, lines = checks.minimal(original.files, candidate.files)
    trial = Trial(candidate, result, lines=lines, gradients=candidate.gradients)
    trial.checks = [
        Check(
            name="reproduced",
            status="passed",
            detail="the original raised it in the same sandbox",
        )
        if original.run.status == "raised"
        else Check(name="reproduced", status="not_run", detail="the original raised nothing"),
        checks.runs(result, original.failing_call, _silent_kinds(original.run)),
    ]
    if trial.status == "passed":
        fixed = None
        if original.reference is not None or original.steps_before is not None:
            fixed = await session.run(job.model_copy(update={"frozen_steps": True}))
        trial.checks += _compared(original, trial, fixed)
        trial.checks += [checks.fresh(result.trace), checks.bounded(result.trace)]
        trial.kept = _nodes_kept(fixed or result)
    trial.checks.append(minimal)
    return _unproven(trial) if result.tampered else trial


def _unproven(trial: Trial) -> Trial:
    """A script that changed what it is observed through proves nothing by its records."""
    why = f"the script changed what it is observed through: {'; '.join(trial.run.tampered[:3])}"
    trial.checks = [
        check.model_copy(update={"status": "not_run", "detail": why})
        if check.status == "passed" and check.name not in ("reproduced", "minimal")
        else check
        for check in trial.checks
    ]
    return trial


def _silent_kinds(result: RunResult) -> set[str]:
    """The silent faults that a run showed."""
    return {record.kind for record in result.trace.silent} if result.trace else set()


def _starved(result: RunResult) -> frozenset[str]:
    """The names of parameters that a run showed to get no gradient."""
    records = result.trace.silent if result.trace else []
    return frozenset(p for r in records if r.kind == "starved-parameter" for p in r.params)


def _nodes_kept(result: RunResult) -> int:
    """How much graph the walks still reach: of two cuts, the later one keeps more."""
    return sum(record.nodes for record in result.trace.backwards[:24]) if result.trace else 0


def _compared(original: Original, trial: Trial, fixed: RunResult | None) -> list[Check]:
    """`learns` and `same_gradient`, at fixed parameters where the reference could be run."""
    fixed_trace = fixed.trace if fixed is not None and checks.len_backwards(fixed) else None
    pattern = trial.candidate.pattern
    steady = fixed_trace if original.reference is not None else None
    learning = checks.learns(
        original.reference if steady else None,
        steady or trial.run.trace,
        original.run.trace,
        at_every_step=not _cuts_a_state(trial.candidate),
        starved=_starved(original.run) if pattern == "starved-parameter" else frozenset(),
        unused=pattern == "unused-parameter",
    )
    match trial.candidate.gradients:
        case "same":
            moved = pattern == "step-between-backwards"
            known = original.reference or original.steps_before
            same = checks.same_gradient(known, fixed_trace, settling=moved)
            if same.status == "failed" and learning.status == "passed" and _is_cut(trial.candidate):
                trial.gradients = "changed"
                same = _not_compared("the leaked gradient is meant to go")
            elif same.status == "not_run":
                trial.gradients = "unknown"
        case "truncated" if not checks.one_walk_a_step(original.reference):
            same = _not_compared("the cut lies between the walks of one step")
        case "truncated":
            same = checks.same_gradient(original.reference, fixed_trace, first_only=True)
        case _:
            same = _not_compared("this patch changes gradients on purpose")
    return [learning, same]


def _cuts_a_state(candidate: Candidate) -> bool:
    """Whether the patch cuts what passes hand on: what lies before may learn in the first only."""
    truncated = candidate.gradients == "truncated" and candidate.pattern in _MAY_BE_CUT
    return truncated or candidate.pattern in _CUT_BY_NATURE


def _is_cut(candidate: Candidate) -> bool:
    """Whether the patch detaches a value that the script itself treats as a constant."""
    return candidate.pattern == "undetached-target" and candidate.confidence >= 0.85


def _not_compared(why: str) -> Check:
    return Check(name="same_gradient", status="not_run", detail=why)


async def _run_plain(original: Original, trial: Trial, session: Session) -> None:
    """A last run without the tracer: what the user will see. Nothing counts its calls, so where
    the traced run was stopped, this one gets the time that the other took."""
    limit = original.time_limit_s
    if trial.run.status != "finished":
        limit = min(limit, trial.run.duration_s + PATIENCE_S)
    result = await session.run(
        Job(
            files={**original.files, **trial.candidate.files},
            entry=original.entry,
            mode="plain",
            time_limit_s=limit,
        )
    )
    position = next(i for i, check in enumerate(trial.checks) if check.name == "runs")
    if result.status not in ("finished", "stopped", "timed_out"):
        detail = f"without the tracer: {checks.ending(result)}"
        trial.checks[position] = Check(name="runs", status="failed", detail=detail)
    else:
        seen = trial.checks[position].detail
        trial.checks[position] = Check(
            name="runs", status="passed", detail=f"{seen}; again without the tracer"
        )
