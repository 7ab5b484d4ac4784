"""Decide whether two versions train alike. The questions, in order: does the original repeat
itself; are plain runs the same; is the mathematics the same with common random numbers; is it the
same in double precision.
"""

from __future__ import annotations

import asyncio
from dataclasses import dataclass, field
from math import inf

from analyzers.explain.listed import counted as with_number
from analyzers.source.project import Project
from app.request.reader import Reader
from app.run import outcome
from app.run.verifying_session import VerifyingSession
from app.verdict import ComparisonCheck, ComparisonName, ComparisonStatus, Sameness, Verdict
from app.verify.compared_version import Progress, Version, silent
from app.verify.comparing import DOUBLE, SINGLE, Tolerances, compare
from app.verify.difference import NUMERIC, Compared
from app.verify.failing import OriginalFix
from app.verify.moments import numbered
from app.verify.rounding import is_rounding
from app.verify.runs import Pair, Runs
from app.verify.wording import (
    PRECISION,
    RANDOM,
    ROUNDING,
    counted,
    describe,
    printed_difference,
    silent_faults,
    witness_of,
)
from sandbox.protocol import RunResult, Session

ROUGH = 0.1  # a first difference as large as this, at the first step, is not rounding
USABLE = ("finished", "stopped")


async def verify(
    before: Version,
    after: Version,
    session: Session,
    *,
    time_limit_s: float = 20.0,
    steps: int | None = None,
    progress: Progress = silent,
    reader: Reader | None = None,
) -> Verdict:
    """Return whether `after` trains as `before` does.

    Every run is made in `session` within `time_limit_s` (seconds). At most the first `steps` steps
    are compared, and no more than there is time for. Never raises for what the scripts do: the
    verdict says why something cannot be compared. With `reader`, silent faults that a run only
    suspects are checked against the source.
    """
    if reader is not None:
        session = VerifyingSession(session, Project(before.files, before.entry), reader)
    asking = _Asking(before, after, Runs(session, time_limit_s, steps), progress)
    return await asking.answer()


@dataclass
class _Asking:
    before: Version
    after: Version
    runs: Runs
    progress: Progress
    checks: list[ComparisonCheck] = field(default_factory=list)
    notes: list[str] = field(default_factory=list)

    async def answer(self) -> Verdict:
        """Ask the questions one after the other until one is decisive."""
        await self.progress("verifying", 0, 3, "Running the original")
        first = await self.runs.first(self.before)
        if first.status == "raised" and first.trace is not None and not first.tampered:
            await self.progress("verifying", 1, 3, "Holding the change against the original")
            return await OriginalFix(self.before, self.after, self.runs, first).verdict()
        if (why := unusable("the original", first)) is not None:
            return self._verdict("not_comparable", why)
        await self.progress("verifying", 1, 3, "Running the original again, and the change")
        again, changed = await asyncio.gather(
            self.runs.plain(self.before, other_set_order=True), self.runs.plain(self.after)
        )
        control = await self._compare("control", first, again)
        if not control.is_same:
            return self._unsteady(control)
        if changed.status == "raised" and not changed.tampered:
            self._check("runs", "failed", outcome.ending(changed))
            return self._verdict("breaks", f"The change raises {outcome.ending(changed)}.")
        if (why := unusable("the change", changed)) is not None:
            return self._verdict("not_comparable", why)
        plain = await self._compare("plain", first, changed)
        if printed_difference(first, again) is None:  # a time, say, which is never the same
            self._note_output(first, changed)
        self.notes += silent_faults(first, changed)
        if plain.is_same:
            self._note_harmless(plain)
            return self._same(plain)
        return await self._why(plain, (first, changed))

    def _unsteady(self, control: Compared) -> Verdict:
        """Return the verdict if the original differs from itself."""
        difference = control.first
        if difference is None:
            return self._verdict("not_comparable", "Nothing can be compared: it did not run again.")
        cause = "time, the order of a set, or something else from outside"
        if control.random_from <= difference.order:
            cause = "random numbers that no seed fixes"
        summary = f"The original does not repeat itself: {describe(difference)}; it uses {cause}."
        return self._verdict("not_comparable", summary, control)

    async def _why(self, plain: Compared, ran: Pair) -> Verdict:
        """Decide whether plain runs differ by mathematics, random numbers or rounding."""
        first = plain.first
        if first is None:
            return self._verdict("not_comparable", "No step of one is a step of the other.", plain)
        drawn = plain.random_from <= first.order
        rough = first.kind != "update" and (first.gap or 0) >= ROUGH
        if first.kind not in NUMERIC or (rough and (drawn or first.order <= 1)):
            return await self._held(plain) if drawn else self._changed(plain)
        verdict = await self._double(plain, ran)
        return await self._held(plain) if drawn and verdict.verdict == "changed" else verdict

    async def _held(self, plain: Compared) -> Verdict:
        """Compare with common random numbers at fixed parameters, because the
        change drew others.
        """
        await self.progress("verifying", 3, 5, "Holding parameters, with common random numbers")
        one, other = await self.runs.both(self.before, self.after, frozen_steps=True)
        held = await self._compare("held", one, other, held=True)
        if self._tampers(one, other):
            return self._not_observed()
        if held.is_same:
            self.notes.append(f"{RANDOM}: drawn otherwise from step {plain.random_step} on")
            return self._changed(plain, "The same mathematics, with other random numbers")
        return self._changed(plain)

    async def _double(self, plain: Compared, ran: Pair) -> Verdict:
        """Compare in double precision, where rounding is 1e-13, because the plain runs differ
        slightly.
        """
        await self.progress("verifying", 3, 5, "Running both in double precision")
        one, other = await self.runs.both(self.before, self.after, double=True)
        if self._tampers(one, other):
            return self._not_observed()
        double = await self._compare("double", one, other, precision=DOUBLE)
        if not double.steps:
            return self._undecided(plain)
        if not double.is_same:
            return self._changed(double if double.first and double.first.ours else plain)
        asked, now = _asked(one), _asked(other)
        if asked != now:
            self.notes.append(f"{PRECISION}: {asked}, now {now}")
            return self._changed(plain, "The same mathematics, in another precision")
        assert plain.first is not None
        if not is_rounding(plain.first, ran, (one, other)):
            return self._changed(
                plain, "Another training in single precision, though not in double"
            )
        off = f", by up to {plain.first.gap:.1e} at first" if plain.first.gap else ""
        self.notes.append(f"{ROUNDING}: single precision differs{off}; double does not")
        self._note_harmless(double)
        return self._same(double)

    def _undecided(self, plain: Compared) -> Verdict:
        """Return the verdict for a slight difference that could not be
        checked in double precision.
        """
        assert plain.first is not None
        if (plain.first.gap or 0) >= ROUGH:
            return self._changed(plain)
        summary = (
            f"Differs {describe(plain.first)}. That may be rounding: it could not be run in double "
            "precision."
        )
        return self._verdict("not_comparable", summary, plain)

    def _same(self, compared: Compared) -> Verdict:
        parameters = with_number(compared.parameters, "parameter")
        summary = f"The same training: {counted(compared)}, {parameters}."
        return self._verdict("same", summary, compared)

    def _changed(self, compared: Compared, said: str = "") -> Verdict:
        """Return "changed", or "breaks" if a parameter stops learning."""
        assert compared.first is not None
        lead = said or "Another training"
        if compared.lost_gradients and not said:
            names = ", ".join(f"`{name or 'a parameter'}`" for name in compared.lost_gradients[:3])
            self._check("learns", "failed", f"no gradient any more: {names}")
            lead = f"{names} {'stop' if ',' in names else 'stops'} learning"
        steps = with_number(compared.equal, "compared step" if compared.is_sample else "step")
        are = "is" if compared.equal == 1 else "are"
        before = f"; {steps} before it {are} the same" if compared.equal else ""
        summary = f"{lead}: {describe(compared.first)}{before}."
        word: Sameness = "breaks" if compared.lost_gradients and not said else "changed"
        return self._verdict(word, summary, compared)

    def _tampers(self, *results: RunResult) -> bool:
        return any(result.tampered for result in results)

    def _not_observed(self) -> Verdict:
        return self._verdict(
            "not_comparable", "Nothing can be said: a script changed what it is observed through."
        )

    async def _compare(
        self,
        name: ComparisonName,
        one: RunResult,
        other: RunResult,
        *,
        precision: Tolerances = SINGLE,
        held: bool = False,
    ) -> Compared:
        """Compare two runs, and add the result to the list of checks."""
        ran = one.status in USABLE and other.status in USABLE
        if not ran or one.trace is None or other.trace is None:
            ending = outcome.ending(one if one.status not in USABLE else other)
            self._check(name, "not_run", f"could not be run so: {ending}")
            return Compared()
        compared = await asyncio.to_thread(compare, one.trace, other.trace, precision, held=held)
        status: ComparisonStatus = "passed" if compared.is_same else "differs"
        steps = "compared steps" if compared.is_sample else "steps"
        detail = f"{compared.equal} of {compared.steps} {steps} are the same"
        if compared.first is not None:
            detail += f", then {describe(compared.first)}"
        self._check(name, status if compared.steps or compared.first else "not_run", detail)
        return compared

    def _check(self, name: ComparisonName, status: ComparisonStatus, detail: str) -> None:
        self.checks.append(ComparisonCheck(name=name, status=status, detail=detail))

    def _note_output(self, one: RunResult, other: RunResult) -> None:
        if said := printed_difference(one, other):
            self.notes.append(said)

    def _note_harmless(self, compared: Compared) -> None:
        """Note the differences that have no effect on the training."""
        if compared.random_from < inf:
            self.notes.append(
                f"{RANDOM}: drawn otherwise from step {compared.random_step} on, to no effect seen"
            )
        if compared.kinds is not None:
            self.notes.append(
                f"other optimizer: {compared.kinds[1]}, where it was {compared.kinds[0]}; its "
                "updates are the same"
            )
        if compared.relaid:
            self.notes.append("weights are laid out in other tensors, and compared as a whole")
        if compared.loss is not None:
            ours, theirs = compared.loss.ours, compared.loss.theirs
            self.notes.append(
                f"other loss: {ours.loss}, now {theirs.loss}, at line {theirs.call.at.line}; its "
                "gradients are the same"
            )

    def _verdict(self, word: Sameness, summary: str, compared: Compared | None = None) -> Verdict:
        return Verdict(
            verdict=word,
            summary=summary,
            witness=witness_of(compared, self.before, self.after) if compared else None,
            steps_compared=compared.steps if compared else 0,
            steps_equal=compared.equal if compared else 0,
            notes=self.notes,
            checks=self.checks,
        )


def unusable(who: str, run: RunResult) -> str | None:
    """Return why nothing can be compared with a run; None if it can."""
    if run.tampered:
        return f"Nothing can be said: {who} changed what it is observed through."
    if run.status not in USABLE:
        return f"Nothing can be compared: {who} ended with {outcome.ending(run)}."
    if run.trace is None or not numbered(run.trace):
        return f"Nothing can be compared: {who} takes no step."
    return None


def _asked(result: RunResult) -> str:
    """Return the precisions that a script asked for."""
    precision = result.trace.precision if result.trace is not None else None
    return ", ".join(sorted(precision.asked)) if precision and precision.asked else "single"
