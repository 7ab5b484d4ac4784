"""Verify a change of an original that fails: compare it with the original's own mathematics past
the failure.

That is the original with every graph kept, or with what lies before an earlier backward call
counted as constant. The service's own patches are judged in the same way.
"""

from __future__ import annotations

from dataclasses import dataclass, replace

from analyzers.request.causes import Candidate
from app.repair.fingerprints import TOLERANCE
from app.repair.judging import trial_of
from app.repair.original import Original
from app.repair.tested_candidate import TestedCandidate
from app.run import outcome
from app.verdict import ComparisonCheck, Sameness, Verdict
from app.verify.compared_version import Version
from app.verify.comparing import compare
from app.verify.difference import Compared
from app.verify.runs import SHARE, Runs
from app.verify.wording import RANDOM, describe, witness_of
from sandbox.protocol import RunResult

CALLS = 128  # backward calls that are compared at least, where there is time
BREAKS = frozenset({"runs", "learns", "schedule", "bounded"})
"""Checks that no training passes over: without them it ends, or something does not learn."""
STRUCTURE = frozenset({"setting", "optimizer", "parameters", "steps"})
KEPT: tuple[str, ...] = ("same", "truncated")


@dataclass(frozen=True)
class OriginalFix:
    """A change of a failing original, tried: `first` is the original's own run."""

    before: Version
    after: Version
    runs: Runs
    first: RunResult

    async def verdict(self) -> Verdict:
        """Compare the change with the references, first with the script's own random numbers.
        Common random numbers are matched by names, which a change may have altered.
        """
        own = await self._tried(own_random=True)
        if own.trial.gradients in KEPT or own.trial.status != "passed":
            return own.verdict([])
        common = await self._tried(own_random=False)
        if common.trial.gradients not in KEPT:
            return own.verdict([])
        if own.begins_elsewhere:
            said = "The same mathematics, with other random numbers"
            return own.verdict([f"{RANDOM}: drawn otherwise from the start"], said)
        return common.verdict([f"{RANDOM}: drawn otherwise, in a forward pass that is repeated"])

    async def _tried(self, *, own_random: bool) -> _Tried:
        how: dict[str, object] = {
            "argv": list(self.before.argv),
            "module": self.before.module,
            "data": dict(self.before.data),
            "state": True,
            "own_random": own_random,
            "stop_after_backwards": max(2 * outcome.len_backwards(self.first) + 8, CALLS),
            "stop_after_steps": self.runs.wanted,
            "stop_after_s": SHARE * self.runs.time_limit_s,
        }
        limit, session = self.runs.time_limit_s, self.runs.session
        files, entry = self.before.files, self.before.entry
        original = Original(files, entry, self.first, session, limit, how=how)
        try:
            given = Candidate("", "given", "The change", self._changed_files(), "", 0)
            trial = await trial_of(original, 0, given)
            reference = (await original.mathematics()).run if trial.held is not None else None
            return _Tried(self.before, self.after, trial, reference, outcome.ending(self.first))
        finally:
            original.close()

    def _changed_files(self) -> dict[str, str]:
        """Return the changed version's files, with its entry in the original's place."""
        files = dict(self.after.files)
        if self.after.entry != self.before.entry:
            files[self.before.entry] = files[self.after.entry]
        return files


@dataclass(frozen=True)
class _Tried:
    """A trial of the change, and the `reference` that it was held against; with what `error` the
    original ended."""

    before: Version
    after: Version
    trial: TestedCandidate
    reference: RunResult | None
    error: str

    @property
    def compared(self) -> Compared:
        """Compare the run at fixed parameters with the reference."""
        held, reference = self.trial.held, self.reference
        if held is None or reference is None or held.trace is None or reference.trace is None:
            return Compared()
        return compare(reference.trace, held.trace, held=True)

    @property
    def begins_elsewhere(self) -> bool:
        """Return True if parameters begin with other values."""
        return self.compared.random_from <= 1

    def verdict(self, notes: list[str], said: str = "") -> Verdict:
        """Return the verdict that follows from the trial."""
        trial, compared = self.trial, self.compared
        failed = [c for c in trial.checks if c.status == "failed" and c.name != "minimal"]
        structure = [d for d in compared.differences if d.kind in STRUCTURE and compared.steps]
        if trial.run.tampered or (trial.held is not None and trial.held.tampered):
            summary = "Nothing can be said: a script changed what it is observed through."
            return self._answer("not_comparable", summary, notes)
        if failed:
            word: Sameness = "breaks" if failed[0].name in BREAKS else "changed"
            return self._answer(word, f"The change fails: {failed[0].detail.rstrip('.')}.", notes)
        if trial.status == "not_run":
            return self._answer("not_comparable", f"The change {_ending(trial)}.", notes)
        if structure:
            found = replace(compared, differences=structure)
            summary = f"Another training: {describe(structure[0])}."
            return self._answer("changed", summary, notes, found)
        if trial.gradients == "unknown":
            summary = f"{trial.effect.text} It ended with {self.error}."
            return self._answer("not_comparable", summary, notes)
        if trial.gradients == "changed" or said or trial.schedule.problem or trial.unsteady:
            text = f"{said}: {trial.effect.text}" if said else trial.effect.text
            gradients = trial.gradients == "changed" or bool(said)
            return self._answer("changed", text, notes, compared if gradients else None)
        word = "same" if trial.gradients == "same" else "truncated"
        return self._answer(word, trial.effect.text, notes)

    def _answer(
        self, word: Sameness, summary: str, notes: list[str], compared: Compared | None = None
    ) -> Verdict:
        gaps = [gap for _, gap in self.trial.measured.nearest.differences]
        equal = next((n for n, gap in enumerate(gaps) if gap > TOLERANCE), len(gaps))
        return Verdict(
            verdict=word,
            summary=summary,
            witness=witness_of(compared, self.before, self.after) if compared else None,
            steps_compared=len(gaps),
            steps_equal=equal,
            notes=notes,
            checks=self._checks(),
        )

    def _checks(self) -> list[ComparisonCheck]:
        return [
            ComparisonCheck(name=c.name, status=c.status, detail=c.detail)
            for c in self.trial.checks
            if c.name != "minimal"
        ]


def _ending(trial: TestedCandidate) -> str:
    return f"could not be followed: {outcome.ending(trial.run)}"
