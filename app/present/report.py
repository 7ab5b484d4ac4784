"""The findings as a client reads them."""

from __future__ import annotations

from dataclasses import replace
from typing import TYPE_CHECKING, Literal

from analyzers.explain.pattern import patterns as all_patterns
from analyzers.request.causes import Candidate, GraphEvent, RankedCause
from analyzers.source.edits import unified_diff
from app.present import non_finite, verdict
from app.present.answer import answer, said_remedy
from app.present.basis import assumptions, basis_of
from app.present.error_report import error_report
from app.present.fix_wording import fix_line
from app.present.levels import graded
from app.present.next_steps import next_steps
from app.present.notes import notes
from app.present.run_environment import environment
from app.present.snippets import snippet_of
from app.present.source_edits import edit_of
from app.repair.repairing import RepairResult
from app.request.case import Case
from app.run.clock import StageClock
from app.run.observation import Observation
from app.run.outcome import len_backwards
from app.schemas import (
    Boundary,
    Carrier,
    Cause,
    Check,
    Effect,
    Event,
    Findings,
    Location,
    Patch,
    PatchedFile,
    RunReport,
    SandboxReport,
    Verification,
)
from provenance import CodeLine
from sandbox.protocol import RunResult

if TYPE_CHECKING:
    from app.repair.tested_candidate import TestedCandidate

MAX_PATCHES = 6
MAX_FAILED = 3  # where no patch passed
_IN_ORDER = ("passed", "not_run", "failed")
_NOT_MEASURED = Effect(text="It was not run, so its effect on the gradients was not measured.")

RunStatus = Literal[
    "reproduced", "ran_clean", "other_error", "timed_out", "limit_hit", "unavailable"
]


def findings(case: Case, seen: Observation, result: RepairResult, clock: StageClock) -> Findings:
    """Return everything that was found, with the verdict and one sentence about it."""
    reported = [cause(c, case) for c in result.causes]
    if seen.ran_clean and not seen.from_run and seen.plan is None:
        reported = []
    if case.fault is not None and not reported:
        seen = replace(seen, run=None, trace=None, plan=None)  # of what was repaired, not sent
    listed = patches(case, result) if reported else []
    error = error_report(case, seen, reported)
    decided = verdict.decide(case, seen, reported)
    return Findings(
        verdict=decided,
        summary=verdict.summary(decided, case, seen, reported, listed),
        error=error,
        answer=answer(case, reported, listed),
        fix=fix_line(listed),
        causes=reported,
        patches=listed,
        run=run_report(seen, case, healthy=decided == "healthy"),
        timings_ms=clock.timings(),
        truncated=[*case.reading.incomplete, *_cut(seen)],
        basis="traceback" if reported and not seen.evidence else basis_of(case, seen),
        world=assumptions(case, seen),
        next=next_steps(decided, case, seen, listed),
        notes=[*notes(decided, case), *non_finite.notes(seen, case, reported)],
        environment=environment(case, seen),
    )


def _cut(seen: Observation) -> list[str]:
    cut: list[str] = []
    if seen.trace is not None and seen.trace.truncated:
        cut.append("records of the traced run beyond the limit")
    if seen.trace is not None and seen.trace.ended is not None:
        cut += seen.trace.ended.truncated
    return cut


def cause(explained: RankedCause, case: Case) -> Cause:
    """Return one cause as the API's model."""
    place = explained.location
    return Cause(
        id=all_patterns()[explained.pattern].ID,
        pattern=explained.pattern,
        title=explained.title,
        engine=explained.engine,
        confidence=explained.confidence,
        source={"predicted": "reading", "observed": "trace", "confirmed": "both"}[explained.how],
        location=Location(
            file=place.file,
            line=place.line,
            end_line=place.line,
            code=explained.code,
            cell=case.cell_of(place),
        ),
        carrier=Carrier(
            name=explained.carrier.name,
            file=explained.carrier.place.file,
            line=explained.carrier.place.line,
            kind=explained.carrier.kind,
        )
        if explained.carrier is not None
        else None,
        parameters=list(explained.parameters),
        by_message=explained.by_message,
        created=_event(explained.created, case),
        freed_by=_event(explained.freed_by, case),
        reached_again_by=_event(explained.reached_again_by, case),
        boundary=Boundary(
            kind=explained.boundary.kind,
            file=explained.boundary.place.file if explained.boundary.place else "",
            line=explained.boundary.place.line if explained.boundary.place else 0,
        ),
        explanation=_in_cells(explained, case),
        remedy=explained.remedy or said_remedy(case, all_patterns()[explained.pattern].FAMILY),
        learn_more=f"/patterns/{explained.pattern}",
    )


def _in_cells(explained: RankedCause, case: Case) -> str:
    """Return the explanation; for a notebook, with the cell of the line to look at."""
    cell = case.cell_of(explained.location)
    if cell is None or cell in explained.explanation:
        return explained.explanation
    return f"{explained.explanation} In the notebook that is {cell}."


def _event(event: GraphEvent | None, case: Case) -> Event | None:
    if event is None:
        return None
    return Event(
        file=event.place.file,
        line=event.place.line,
        end_line=event.place.line,
        code=event.code,
        cell=case.cell_of(event.place),
        iteration=event.iteration,
        op=event.op,
    )


def patches(case: Case, result: RepairResult) -> list[Patch]:
    """Return patches, best first: those that passed, those not run, then failed ones.

    Failed patches show their failure, so that a reader sees what was tried.
    """
    tried = {status: [t for t in result.trials if t.status == status] for status in _IN_ORDER}
    listed = [patch(t, case) for status in _IN_ORDER[:2] for t in tried[status]]
    listed += [_untried(c, case) for c in result.untried]
    failed = tried["failed"] if listed else tried["failed"][:MAX_FAILED]
    kept = [*listed, *(patch(t, case) for t in failed)][:MAX_PATCHES]
    return [one.model_copy(update={"n": n}) for n, one in enumerate(kept, 1)]


def patch(trial: TestedCandidate, case: Case) -> Patch:
    """Return a tried candidate as a patch of the source that was sent."""
    level, reason = graded(trial)
    return _untried(trial.candidate, case).model_copy(
        update={
            "gradients": trial.gradients,
            "effect": trial.effect,
            "level": level,
            "level_reason": reason,
            "verification": Verification(status=trial.status, checks=trial.checks),
        }
    )


def _untried(candidate: Candidate, case: Case) -> Patch:
    entry = case.project.entry
    before, files = dict(case.project.files), dict(candidate.files)
    for texts in (before, files):
        for path in texts.keys() & case.pasted.keys():
            texts[path] = case.pasted[path].back(texts[path])
    diffs = [_diff(case, path, before.get(path, ""), text) for path, text in sorted(files.items())]
    script = files.get(entry, before.get(entry, ""))
    return Patch(
        n=1,
        strategy=candidate.strategy,
        title=candidate.title,
        diff="".join(diffs),
        script=case.notebook.patched(script) if case.notebook is not None else script,
        snippet="\n\n".join(
            snippet_of(before.get(path, ""), text) for path, text in sorted(files.items())
        ),
        edit=edit_of(before, files, entry, lambda path, line: case.cell_of(CodeLine(path, line))),
        files=[PatchedFile(path=p, content=t) for p, t in files.items() if p != entry],
        gradients="unknown",
        effect=_NOT_MEASURED,
        tradeoff=candidate.tradeoff,
        verification=Verification(status="not_run"),
    )


def _diff(case: Case, path: str, before: str, after: str) -> str:
    """Return the diff of a file; of a notebook, by cells rather than of its JSON."""
    if case.notebook is not None and path == case.project.entry:
        return case.notebook.diff(path, before, after)
    return unified_diff(path, before, after)


def run_report(seen: Observation, case: Case, *, healthy: bool) -> RunReport | None:
    """Return what the sandboxed run did; of a healthy one also what its training shows."""
    run = seen.run
    if run is None:
        return None
    return RunReport(
        status=_status(run, seen, case),
        exception=f"{run.raised.type}: {run.raised.message}" if run.raised is not None else None,
        stdout_tail=run.stdout_tail,
        stderr_tail=run.stderr_tail,
        duration_s=round(run.duration_s, 3),
        backward_calls=len_backwards(run),
        stopped=run.status == "stopped",
        peak_memory_mib=round(run.peak_memory_mib, 1),
        checks=_own_checks(run) if healthy else [],
        stand_ins=[s.name for s in run.trace.stubs] if run.trace is not None else [],
        tampered=run.tampered,
        non_finite_loss=non_finite.reported(seen, case),
        sandbox=SandboxReport(backend=run.backend, walls=run.walls),
    )


def _own_checks(run: RunResult) -> list[Check]:
    from app.repair.own_training import own_checks  # a command that only reads needs none of it

    return own_checks(run.trace)


def _status(run: RunResult, seen: Observation, case: Case) -> RunStatus:
    match run.status:
        case "finished" | "stopped":
            return "ran_clean"
        case "timed_out" | "limit_hit" | "unavailable":
            return run.status
    return "reproduced" if verdict.reproduced(run, seen, case) else "other_error"
