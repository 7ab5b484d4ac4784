"""Try candidates in rounds: diagnose, patch, run again, while the patched script shows another
fault.
"""

from __future__ import annotations

from collections.abc import Awaitable, Callable, Mapping, Sequence
from dataclasses import dataclass, field, replace
from functools import partial
from typing import TYPE_CHECKING

from analyzers.explain.listed import counted
from analyzers.request.causes import Candidate, RankedCause
from analyzers.request.ranking import candidates_of
from analyzers.request.static_recheck import sound
from app.request.case import READING_LIMIT_S, Case
from app.request.reader import Reader, ReadingLimit
from app.run.observation import Observation, is_suspected, project_of
from app.run.run_evidence import observed_evidence
from app.run.time_budget import TimeBudget
from sandbox.protocol import Raised, Session

if TYPE_CHECKING:
    from app.repair.follow_up import Faults, LaterFault
    from app.repair.judging import OnPassed
    from app.repair.original import Original
    from app.repair.tested_candidate import TestedCandidate

MAX_ROUNDS = 3

Stage = Callable[[str, int, int, str], Awaitable[None]]


@dataclass
class RepairResult:
    """Every cause that was found, and the candidates with what their runs showed."""

    causes: list[RankedCause]
    trials: list[TestedCandidate] = field(default_factory=list)
    untried: list[Candidate] = field(default_factory=list)


async def repair_faults(
    case: Case,
    seen: Observation,
    causes: list[RankedCause],
    session: Session | None,
    reader: Reader,
    stage: Stage,
    on_passed: OnPassed | None = None,
    budget: TimeBudget | None = None,
) -> RepairResult:
    """Try the candidates of all causes and report each that passes at once. If none can be run,
    they are returned untried. `budget` counts the runs of the session, including earlier ones.
    """
    candidates = candidates_of(causes)
    run = seen.run
    nothing = not causes or not (candidates or (run is not None and run.status == "raised"))
    if session is None or run is None or not seen.from_run or nothing:
        return RepairResult(causes, untried=await _read_again(candidates, case, seen, reader))
    from app.repair.follow_up import Faults  # a process that only reads does not need these
    from app.repair.original import Original

    files, entry = case.project.files, case.project.entry
    original = Original(files, entry, run, session, case.time_limit_s, budget)
    try:
        seen_in = replace(case, project=project_of(case, seen))
        faults = Faults(original, seen_in, session, reader, seen.evidence[0])
        result = await _in_rounds(faults, causes, candidates, stage, on_passed)
        if run.status == "raised" and not has_passed(result):
            if seen.plan is None or stopped_short(result, files) is None:
                await _search(faults, result, stage, on_passed)
        result.trials.sort(key=lambda trial: trial.merit)
        await _reduce(original, result)
    finally:
        original.close()
    result.trials.sort(key=lambda trial: trial.merit)
    result.causes = _led_by_winner(result)
    return result


async def _search(
    faults: Faults, result: RepairResult, stage: Stage, on_passed: OnPassed | None
) -> None:
    """Add what a search finds among the edits that the evidence suggests, if it may be offered."""
    from app.repair import edit_search

    async def passed(trial: TestedCandidate) -> None:
        if on_passed is not None and edit_search.is_offered(trial):
            await on_passed(trial)

    edits = await edit_search.edits_to_try(faults, result.trials)
    searching, rounds = edit_search.searching(faults), edit_search.ROUNDS
    found = await _in_rounds(searching, result.causes, edits, stage, passed, rounds)
    result.trials += filter(edit_search.is_offered, found.trials)


async def _in_rounds(
    faults: Faults,
    causes: list[RankedCause],
    candidates: list[Candidate],
    stage: Stage,
    on_passed: OnPassed | None,
    rounds: int = MAX_ROUNDS,
) -> RepairResult:
    """Try the candidates. If none passes, or one is only a partial patch, try those of the faults
    that patched runs show.
    """
    from app.repair.search import try_out

    result = RepairResult(causes)
    groups = _in_turns(candidates)
    later: list[LaterFault] = []
    alone = True  # what later rounds find is named although none of their patches passes
    for left in reversed(range(rounds)):
        number = sum(map(len, groups))
        await stage("verifying", 0, number, _trying(number))
        progress = partial(_report, stage, _trying(number))
        trials = await try_out(faults.original, groups, on_passed=on_passed, judged=progress)
        result.trials += [one for one in trials if not one.candidate.half or one.status == "passed"]
        await stage(
            "verifying",
            len(trials),
            len(trials),
            f"Tried {counted(len(trials), 'patch', 'patches')}",
        )
        passed = [trial.candidate for trial in trials if trial.status == "passed"]
        result.causes = _with(result.causes, _causes_of(later, passed, alone=alone))
        if not left:
            break
        whole = any(trial.status == "passed" and not trial.other_fault for trial in trials)
        alone = whole or not passed
        further = [t for t in trials if t.candidate.half or not (whole or t.introduces_fault)]
        later = await faults.later_faults(further) if further else []
        groups = [group for one in later for group in _in_turns(one.candidates)]
        if not groups:
            break
    return result


def _trying(number: int) -> str:
    return f"Trying {counted(number, 'patch', 'patches')}"


async def _report(stage: Stage, message: str, done: int, total: int) -> None:
    await stage("verifying", done, total, message)


async def _reduce(original: Original, result: RepairResult) -> None:
    """Replace the best trial by one of its smallest part that has the same effect."""
    from app.repair.reduction import reduce

    best = result.trials[0] if result.trials else None
    if best is not None and best.status == "passed":
        least = await reduce(original, best)
        if least is not None:
            result.trials[0] = least


def has_passed(result: RepairResult) -> bool:
    """Return True if a patch passed."""
    return any(trial.status == "passed" for trial in result.trials)


def stopped_short(result: RepairResult, sent: Mapping[str, str]) -> TestedCandidate | None:
    """Return the trial of the first candidate whose run got past the error and ended with another
    error, not autograd's, on a line that was sent; None if there is none or a patch passed.
    """
    if has_passed(result):
        return None
    for trial in result.trials:
        trace = trial.run.trace
        if trial.run.status == "raised" and trace is not None and not observed_evidence(trace):
            if _on_a_line_of(sent, trial.run.raised):
                return trial
    return None


def _on_a_line_of(sent: Mapping[str, str], raised: Raised | None) -> bool:
    """Return True if the innermost frame of the script that raised an error is on a line that was
    sent.
    """
    frames = [frame for frame in raised.frames if frame.file in sent] if raised is not None else []
    if not frames:
        return True
    lines = {line.strip() for line in sent[frames[-1].file].splitlines()}
    return bool(frames[-1].code.strip()) and frames[-1].code.strip() in lines


def _causes_of(
    later: Sequence[LaterFault], passed: Sequence[Candidate], *, alone: bool
) -> list[RankedCause]:
    """Return the causes of the later fault whose patch passed; else those of the first later fault,
    if no patch without one passed either (`alone`).
    """
    result = (one for one in later if any(c in one.candidates for c in passed))
    found = next(result, None) or (next(iter(later), None) if alone else None)
    return found.causes if found is not None else []


async def _read_again(
    candidates: list[Candidate], case: Case, seen: Observation, reader: Reader
) -> list[Candidate]:
    """Return candidates that are not run, without those that static analysis rules out."""
    if not candidates:
        return candidates
    error = case.traceback if is_suspected(case, seen) else None
    suspecting = error.family if error is not None else ""
    known = case.reading if case.traceback is None else None  # complete: no error selected from it
    try:
        return await reader.call(
            partial(sound, suspecting=suspecting, before=known, fixing=not case.project.notebook),
            project_of(case, seen),
            candidates,
            timeout=READING_LIMIT_S,
        )
    except ReadingLimit:
        return candidates


def _in_turns(candidates: Sequence[Candidate]) -> list[list[Candidate]]:
    """Group the candidates by the certainty of their causes, most certain first."""
    groups: dict[int, list[Candidate]] = {}
    for candidate in candidates:
        groups.setdefault(candidate.turn, []).append(candidate)
    return [groups[turn] for turn in sorted(groups)]


def _with(causes: list[RankedCause], further: list[RankedCause]) -> list[RankedCause]:
    """Return the causes with the first one of a later round appended, without duplicates."""
    known = {(cause.pattern, cause.location.line) for cause in causes}
    new = [c for c in further[:1] if (c.pattern, c.location.line) not in known]
    return [*causes, *new]


def _led_by_winner(result: RepairResult) -> list[RankedCause]:
    """Return the causes with that of the passed patch first, unless it passed only as a last
    resort. The cause of an error stays before a silent fault whose patch fixes both.
    """
    winner = next((t for t in result.trials if t.status == "passed"), None)
    if winner is None or winner.candidate.last_resort:
        return result.causes
    won = [c for c in result.causes if c.pattern == winner.candidate.pattern]
    rest = [c for c in result.causes if c.pattern != winner.candidate.pattern]
    if won and won[0].silent and not result.causes[0].silent:
        return result.causes
    return [*(replace(c, basis="verified") for c in won), *rest]
