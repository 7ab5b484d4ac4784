"""Rounds of candidates: diagnose, patch, run again, while another fault stands behind the first."""

from __future__ import annotations

from collections.abc import Awaitable, Callable, Mapping, Sequence
from dataclasses import dataclass, field, replace
from functools import partial
from typing import TYPE_CHECKING

from analyzers.evidence import Evidence, GraphReuse
from analyzers.request.causes import Candidate, Explained, classify
from analyzers.request.reread import sound
from analyzers.source.project import Project
from app.request.case import READING_LIMIT_S, Case
from app.request.reader import Reader, ReadingLimit
from app.run.outcome import len_backwards
from app.run.reproduce import Observation, is_suspected, project_of
from app.run.spent import Spent
from app.run.witness import observed
from sandbox.protocol import Session

if TYPE_CHECKING:
    from app.repair.original import Original
    from app.repair.verify import Told, Trial

MAX_ROUNDS = 3
MAX_CANDIDATES = 8

Stage = Callable[[str, int, int, str], Awaitable[None]]


@dataclass
class Mended:
    """Every cause that was found, and the candidates with what their runs showed."""

    causes: list[Explained]
    trials: list[Trial] = field(default_factory=list)
    untried: list[Candidate] = field(default_factory=list)


async def mend(
    case: Case,
    seen: Observation,
    causes: list[Explained],
    session: Session | None,
    reader: Reader,
    stage: Stage,
    told: Told | None = None,
    spent: Spent | None = None,
) -> Mended:
    """Try the candidates of all causes, telling each that passes at once. Where none can be run
    they are returned untried. `spent` counts the runs of the session, those before these too."""
    candidates = _distinct(causes)
    run = seen.run
    if session is None or run is None or not seen.from_run or not candidates:
        return Mended(causes, untried=await _read_again(candidates, case, seen, reader))
    from app.repair.original import Original  # what only reads measures nothing

    await stage("verifying", 0, len(candidates), f"Trying {len(candidates)} patches")
    files, entry = case.project.files, case.project.entry
    original = Original(files, entry, run, session, case.time_limit_s, spent)
    try:
        mended = await _in_rounds(original, case, seen, causes, candidates, reader, stage, told)
    finally:
        original.close()
    mended.trials.sort(key=lambda trial: trial.order)
    mended.causes = _led_by_winner(mended)
    return mended


async def _in_rounds(
    original: Original,
    case: Case,
    seen: Observation,
    causes: list[Explained],
    candidates: list[Candidate],
    reader: Reader,
    stage: Stage,
    told: Told | None,
) -> Mended:
    """Try the candidates; where none passes, those of the fault that stands behind the first."""
    from app.repair.contest import try_out

    mended = Mended(causes)
    project = project_of(case, seen)
    evidence: Sequence[Evidence] = seen.evidence
    for round_ in range(MAX_ROUNDS):
        trials = await try_out(original, _in_turns(candidates), told=told)
        mended.trials += trials
        await stage("verifying", len(trials), len(trials), f"Tried {len(mended.trials)} patches")
        if any(trial.status == "passed" for trial in trials) or round_ == MAX_ROUNDS - 1:
            break
        found = await _behind(trials, original, project, evidence, reader)
        if found is None:
            break
        further, candidates, evidence = found
        mended.causes = _with(mended.causes, further)
    return mended


async def _read_again(
    candidates: list[Candidate], case: Case, seen: Observation, reader: Reader
) -> list[Candidate]:
    """Candidates that are not run, without those that reading shows to be no repair."""
    if not candidates or case.project.notebook:
        return candidates
    error = case.traceback if is_suspected(case, seen) else None
    suspecting = error.family if error is not None else ""
    known = case.reading if case.traceback is None else None  # whole: no error chose among it
    try:
        return await reader.call(
            partial(sound, suspecting=suspecting, before=known),
            project_of(case, seen),
            candidates,
            timeout=READING_LIMIT_S,
        )
    except ReadingLimit:
        return candidates


def _distinct(causes: list[Explained]) -> list[Candidate]:
    """The candidates of all causes, surest and most idiomatic first, no patch twice."""
    chosen: list[Candidate] = []
    for cause in causes:
        for candidate in cause.candidates:
            if all(candidate.files != other.files for other in chosen):
                chosen.append(candidate)
    chosen.sort(key=lambda c: (c.last_resort, c.turn, c.rank))
    return chosen[:MAX_CANDIDATES]


def _in_turns(candidates: Sequence[Candidate]) -> list[list[Candidate]]:
    """The candidates of the surest causes first; of causes that are as sure, together."""
    groups: dict[int, list[Candidate]] = {}
    for candidate in candidates:
        groups.setdefault(candidate.turn, []).append(candidate)
    return [groups[turn] for turn in sorted(groups)]


async def _behind(
    trials: list[Trial],
    original: Original,
    project: Project,
    evidence: Sequence[Evidence],
    reader: Reader,
) -> tuple[list[Explained], list[Candidate], Sequence[Evidence]] | None:
    """The fault that stands behind the mended one: a candidate got further, or met another
    fault; that fault's own patches go on top of it."""
    for trial in trials:
        trace = trial.run.trace
        if trial.candidate.last_resort or trace is None or trial.run.status != "raised":
            continue
        found = observed(trace)
        calls = len_backwards(trial.run)
        further = calls > original.failing_call
        if not found or calls < original.failing_call:
            continue
        if not further and _signature(found[0]) == _signature(evidence[0]):
            continue
        patched = replace(project, files={**project.files, **trial.candidate.files})
        try:
            causes = await reader.call(classify, patched, found, timeout=READING_LIMIT_S)
        except ReadingLimit:
            continue
        candidates = [_on_top(trial.candidate, c) for c in _distinct(causes) if not c.last_resort]
        if candidates:
            return causes, candidates, found
    return None


def _signature(piece: Evidence) -> tuple[object, ...]:
    """What tells one fault from another although lines have moved: its kind, and its carriers."""
    if isinstance(piece, GraphReuse):
        names = {holder.path for join in piece.joins for holder in join.holders}
        return GraphReuse, frozenset(names)
    return type(piece), frozenset(holder.path for holder in piece.holders)


def _on_top(first: Candidate, second: Candidate) -> Candidate:
    """Two patches as one, in the name of the fault that was met first."""
    return replace(
        second,
        pattern=first.pattern,
        files=_over(first.files, second.files),
        title=f"{first.title}; {second.title[:1].lower()}{second.title[1:]}",
        strategy=f"{first.strategy}+{second.strategy}",
        tradeoff=" ".join(filter(None, dict.fromkeys((first.tradeoff, second.tradeoff)))),
        rank=first.rank + second.rank,
    )


def _over(first: Mapping[str, str], second: Mapping[str, str]) -> dict[str, str]:
    return {**first, **second}


def _with(causes: list[Explained], further: list[Explained]) -> list[Explained]:
    """Causes of a later round behind those of the first, none twice."""
    known = {(cause.pattern, cause.location.line) for cause in causes}
    new = [c for c in further[:1] if (c.pattern, c.location.line) not in known]
    return [*causes, *new]


def _led_by_winner(mended: Mended) -> list[Explained]:
    """The cause whose patch passed comes before surer ones whose patches failed, or passed as a
    last resort only."""
    winner = next((t for t in mended.trials if t.status == "passed"), None)
    if winner is None or winner.candidate.last_resort:
        return mended.causes
    won = [c for c in mended.causes if c.pattern == winner.candidate.pattern]
    rest = [c for c in mended.causes if c.pattern != winner.candidate.pattern]
    return [*(replace(c, basis="mended") for c in won), *rest]
