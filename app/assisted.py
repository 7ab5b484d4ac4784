"""Fixes that an assistant proposes, tried as every other candidate is."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field

import structlog

from analyzers.request.causes import Candidate
from app.assistant import Assistant, AssistantError
from app.assistant.prompt import SYSTEM, objection, question
from app.assistant.replies import ReplyError, changes_in
from app.present.levels import graded
from app.present.story import family_of, steps
from app.repair.original import Original
from app.repair.repairing import RepairResult, Stage
from app.repair.search import try_out
from app.repair.tested_candidate import TestedCandidate
from app.request.case import Case
from app.request.reader import Reader, ReadingLimit
from app.run.observation import Observation
from app.run.time_budget import TimeBudget
from app.schemas import Cause
from sandbox.protocol import Session

TRIES = 3
LARGEST = 96 * 1024  # characters of sources that an assistant is asked about
READING_S = 10.0
TRIED = 5
TITLE = "Proposed by an assistant, tested here"
STRATEGY = "assistant"

log = structlog.get_logger()


@dataclass
class Asking:
    """One script that an assistant is asked about. `session` is the one that showed the fault, and
    `budget` counts its runs."""

    assistant: Assistant
    case: Case
    seen: Observation
    session: Session
    reader: Reader
    stage: Stage
    budget: TimeBudget
    messages: list[dict[str, str]] = field(default_factory=list)

    async def add_to(self, result: RepairResult, cause: Cause) -> None:
        """Add the assistant's fix to ours, where none of these is safe and its own passed."""
        if any(graded(trial)[0] == "safe" for trial in result.trials):
            return
        result.trials += await self._trials(result, cause)
        result.trials.sort(key=lambda trial: trial.merit)

    async def _trials(self, result: RepairResult, cause: Cause) -> list[TestedCandidate]:
        """Return the trial of the fix that passed and keeps the gradients, or truncates them.

        Return an empty list if three answers contain none, or if there was no answer.
        """
        files = _asked_about(self.case, cause)
        run = self.seen.run
        if run is None or sum(map(len, files.values())) > LARGEST:
            return []
        error = f"{run.raised.type}: {run.raised.message}" if run.raised is not None else ""
        evidence = [step.text for step in steps(cause, family_of(cause))]
        entry, tried = self.case.project.entry, _tried(result.trials)
        asked = question(entry, files, error, cause, evidence, tried)
        self.messages = [_said("system", SYSTEM), _said("user", asked)]
        project = self.case.project
        limit = self.case.time_limit_s
        original = Original(project.files, project.entry, run, self.session, limit, self.budget)
        try:
            return await self._until_passed(original, files, cause)
        except AssistantError as error_:
            log.warning("the assistant did not answer", why=str(error_))
            return []
        finally:
            original.close()

    async def _until_passed(
        self, original: Original, files: Mapping[str, str], cause: Cause
    ) -> list[TestedCandidate]:
        for n in range(TRIES):
            await self.stage("asking", n, TRIES, f"Asking the assistant (try {n + 1} of {TRIES})")
            reply = await self.assistant.answer(self.messages)
            try:
                changed = await self._changes(reply, files)
            except ReplyError as wrong:
                self._object(reply, str(wrong))
                continue
            (trial,) = await try_out(original, [[_candidate(changed, cause)]], every=True)
            if trial.status == "passed" and trial.gradients in ("same", "truncated"):
                return [trial]
            self._object(reply, _failure(trial))
        return []

    async def _changes(self, reply: str, files: Mapping[str, str]) -> dict[str, str]:
        """Return the files that an answer changes, parsed in a worker for hostile text."""
        try:
            return await self.reader.call(
                changes_in, reply, dict(files), self.case.project.entry, timeout=READING_S
            )
        except ReadingLimit:
            raise ReplyError("it takes too long to read.") from None

    def _object(self, reply: str, failure: str) -> None:
        self.messages += [_said("assistant", reply), _said("user", objection(failure))]


def _said(role: str, content: str) -> dict[str, str]:
    return {"role": role, "content": content}


def _asked_about(case: Case, cause: Cause) -> dict[str, str]:
    """Return the script, and the files that the evidence is in."""
    spots = [cause.location, cause.created, cause.freed_by, cause.reached_again_by]
    names = {case.project.entry, *(spot.file for spot in spots if spot is not None)}
    return {name: case.project.files[name] for name in names if name in case.project.files}


def _candidate(files: dict[str, str], cause: Cause) -> Candidate:
    return Candidate(cause.pattern, STRATEGY, TITLE, files, "", 0)


def _tried(trials: Sequence[TestedCandidate]) -> list[tuple[str, str]]:
    return [(trial.candidate.title, _failure(trial)) for trial in trials[:TRIED]]


def _failure(trial: TestedCandidate) -> str:
    """Return the fault of a repair: the first failed check, else its effect on the training."""
    failed = next((check for check in trial.checks if check.status == "failed"), None)
    return failed.detail if failed is not None else trial.effect.text
