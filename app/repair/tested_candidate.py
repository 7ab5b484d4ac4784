"""Define a candidate with what its runs showed."""

from __future__ import annotations

from dataclasses import dataclass, field

from analyzers.request.causes import Candidate
from app.repair.effects import Measured
from app.repair.ranking import Measures, Merit, Prospect
from app.repair.schedule import ScheduleComparison
from app.schema_types import Gradients, Verified
from app.schemas import Check, Effect
from sandbox.protocol import RunResult

OF_GRADIENTS = {
    "overwritten-gradient": "no backward call overwrites a kept gradient",
    "uncleared-gradients": "gradients of earlier steps are not added",
    "unfed-parameters": "parameters without a gradient get one",
    "unheld-parameters": "the parameters that get gradients are in an optimizer",
    "cleared-gradients": "gradients are not cleared before the step",
    "unstepped-parameters": "the optimizer steps",
    "wrong-gradients": "gradients are the numerical ones",
}
"""Silent faults that are in the gradients, so that the references have them, too; what a fix is
for."""
SETTLED = Prospect(0, False, False, 0, 0, Measures())
"""Nothing is wrong with a first choice for the most certain cause."""


@dataclass
class TestedCandidate:
    """A candidate with what its runs showed: as it is, and `held` at fixed parameters. `turn` is
    the rank of its cause, most certain first.
    """

    candidate: Candidate
    run: RunResult
    held: RunResult | None = None
    turn: int = 0
    checks: list[Check] = field(default_factory=list)
    measured: Measured = field(default_factory=Measured)
    schedule: ScheduleComparison = field(default_factory=lambda: ScheduleComparison("unknown"))
    unsteady: str = ""
    loses_gradient: bool = False
    feeds_others: bool = False
    is_derivative: bool = False  # it changes Functions alone, which equal numerical gradients
    retains: bool = False
    keeps_growing: bool = False
    leaves: int = 0
    nodes: int = 0
    lines: int = 0

    @property
    def status(self) -> Verified:
        """Return "failed" if any check failed, "passed" if the patched script was seen to run."""
        if any(check.status == "failed" for check in self.checks):
            return "failed"
        ran = any(check.name == "runs" and check.status == "passed" for check in self.checks)
        return "passed" if ran else "not_run"

    @property
    def gradients(self) -> Gradients:
        """Return the measured effect in one word."""
        return self.measured.gradients

    @property
    def effect(self) -> Effect:
        """Return what the patch does to the training."""
        effect = self.measured.effect()
        known = self.schedule.word != "unknown"
        said = [*((self.schedule.text, self.unsteady) if known else ())]
        if self.other_fault:
            said.append(f"another fault shows with it: {self.other_fault}")
        text = "".join(f" {one[:1].upper()}{one[1:]}." for one in said if one)
        return effect.model_copy(
            update={
                "schedule": self.schedule.word,
                "text": f"{effect.text}{text}",
                "intended": "" if self.other_fault else effect.intended,
            }
        )

    @property
    def is_no_derivative(self) -> bool:
        """Return True if a Function that the patch changes differs from numerical gradients."""
        return any(c.name == "gradcheck" and c.status == "differs" for c in self.checks)

    @property
    def introduces_fault(self) -> bool:
        """Return True if the patch itself is what causes another fault."""
        return any(c.name == "no_other_fault" and c.status == "failed" for c in self.checks)

    @property
    def other_fault(self) -> str:
        """Return the fault that the patched run shows and the original's does not; '' if none."""
        return next((c.detail for c in self.checks if c.name == "no_other_fault"), "")

    @property
    def merit(self) -> Merit:
        """Return the sort key among the trials of one request, best first."""
        return Merit(
            self.prospect,
            leaves=-self.leaves,
            lines_if_same=self.lines if self.gradients == "same" else 0,
            rank=self.candidate.rank,
            nodes_if_not_same=-self.nodes if self.gradients in ("truncated", "changed") else 0,
            lines=self.lines,
        )

    @property
    def prospect(self) -> Prospect:
        """Return what the runs decided, before the size of the patch counts."""
        differs = self.measured.rank > 0
        return Prospect(
            failed_checks=sum(check.status == "failed" for check in self.checks),
            has_problem=bool(
                self.schedule.problem
                or self.unsteady
                or self.is_no_derivative
                or (self.other_fault and self.measured.rank > 1)
            ),
            last_resort=self.candidate.last_resort,
            turn=self.turn,
            choice=self.candidate.choice,
            measures=Measures(
                differs,
                differs and self.loses_gradient,
                self.measured.rank,
                self.feeds_others,
                self.retains,
                self.keeps_growing,
            ),
        )

    @property
    def settles(self) -> bool:
        """Return True if no better patch need be looked for, except a shorter one."""
        return self.status == "passed" and self.prospect == SETTLED
