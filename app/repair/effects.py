"""Measure the effect of a patch: compare its gradients with those of the original's own
mathematics.

All compared runs hold the parameters fixed and draw common random numbers. So the k-th step of an
optimizer can be compared with the k-th step of the same optimizer in another run.
"""

from __future__ import annotations

import itertools
import math
from collections import Counter, defaultdict
from collections.abc import Collection, Iterator, Mapping, Sequence
from dataclasses import dataclass, field
from typing import Literal

from analyzers.explain.listed import counted
from app.repair.fingerprints import IN_DOUBLE, TOLERANCE, gradient_gap
from app.repair.matching import matched
from app.schema_types import TARGETS_HELD, Gradients
from app.schemas import Effect
from sandbox.records import NOT_FINITE, Step, Trace

CANCELLED = 0.01  # of a norm: what two terms leave of each other, and a regulariser adds
MIN_SETTLED = 3  # steps after the first that must agree if the first may differ

Pair = tuple[Step, Step]
Against = Literal["kept", "truncated", "constant", "constant_targets"]


@dataclass(frozen=True)
class ReferenceComparison:
    """The steps of a patch compared with those of one reference, with the difference of each.
    `double`: both ran in double precision.
    """

    against: Against
    differences: Sequence[tuple[Step, float]] = ()
    double: bool = False

    @property
    def tolerance(self) -> float:
        """Return the largest difference that counts as equal."""
        return IN_DOUBLE if self.double else TOLERANCE

    @property
    def worst(self) -> float:
        """Return the largest difference, as a share of a gradient's norm."""
        return max((gap for _, gap in self.differences), default=0.0)

    @property
    def equal(self) -> int:
        """Return how many steps agree."""
        return sum(gap <= self.tolerance for _, gap in self.differences)

    @property
    def whole(self) -> bool:
        """Return True if all steps agree, and there is at least one."""
        return bool(self.differences) and self.equal == len(self.differences)

    @property
    def settled(self) -> bool:
        """Return True if all steps agree except the first of each optimizer. If a patch moves a
        forward pass, what the script itself writes into weights may come before it or after it.
        """
        first = {step.optimizer: step for step, _ in reversed(self.differences)}
        later = [(s, gap) for s, gap in self.differences if s is not first[s.optimizer]]
        counts = Counter(step.optimizer for step, _ in later)
        enough = all(counts[optimizer] >= MIN_SETTLED for optimizer in first)
        return bool(later) and enough and all(gap <= self.tolerance for _, gap in later)


@dataclass(frozen=True)
class Measured:
    """What the comparison showed. `whole_story`: the reference goes past the original's failure.
    `too_early`: the reference fails too, before it has any gradient. `intended`: what other
    gradients are for, if the original's run showed that its own are wrong. `completed`: the number
    of backward calls that the original completed. `cut_short`: a reference that might be equal was
    ended before it could be compared. `cancels`: where every graph is kept, what a loss compares
    takes its own gradient back.
    """

    kept: ReferenceComparison = field(default_factory=lambda: ReferenceComparison("kept"))
    truncated: ReferenceComparison | None = None
    whole_story: bool = True
    too_early: bool = False
    intended: str = ""
    completed: int = 0
    cut_short: bool = False
    cancels: bool = False

    @property
    def doubted(self) -> bool:
        """Return True if the original's run showed that its own gradients are wrong."""
        return bool(self.intended)

    @property
    def gradients(self) -> Gradients:
        """Return the effect in one word."""
        if not self.kept.differences:
            return "unknown"
        if self.kept.whole:
            return "same" if self.whole_story else "unknown"
        if self.truncated is not None and self.truncated.whole:
            return "truncated"
        return "unknown" if self.cut_short else "changed"

    @property
    def rank(self) -> int:
        """Return the rank of the effect, best first: same, truncated, either of them from the
        second step on, unknown, changed, changed already before the original's failure. If the
        original's gradients are the fault, leaving them the same ranks last.
        """
        if self.doubted and self.gradients == "same":
            return 5
        if self.truncated is not None and self.truncated.against == "constant_targets":
            return 0  # a loss's target may be trained on purpose, or not
        if self.gradients != "changed":
            return {"same": 0, "truncated": 1, "unknown": 2}[self.gradients]
        if self.nearest.settled:
            return 2
        return 4 if self.early else 3

    @property
    def early(self) -> bool:
        """Return True if gradients differ in a step that the original took before it failed. There
        both references hold what the script was seen to train.
        """
        taken = [gap for step, gap in self.nearest.differences if step.after <= self.completed]
        return not self.doubted and any(gap > self.nearest.tolerance for gap in taken)

    @property
    def nearest(self) -> ReferenceComparison:
        """Return the comparison that shows the most agreement."""
        both = [c for c in (self.kept, self.truncated) if c is not None]
        return max(both, key=lambda c: (c.whole, c.settled, c.equal))

    def effect(self) -> Effect:
        """Return the effect as the API shows it."""
        nearest = self.nearest
        compared = len(nearest.differences)
        return Effect(
            against=_shown(nearest.against) if compared else "none",
            steps_equal=nearest.equal,
            steps_compared=compared,
            worst=min(nearest.worst, 1e9),
            text=self._text(nearest, compared),
            intended=self.intended,
        )

    def _text(self, nearest: ReferenceComparison, compared: int) -> str:
        if not compared and self.too_early:
            return "The original fails before any gradients can be compared."
        if not compared:
            return "No gradients could be compared with the original's."
        steps = counted(compared, "step")
        if nearest.whole and not self.whole_story:
            return f"In the {steps} before the original fails, gradients equal its own."
        number = f"all {steps}" if compared > 1 else "the one step"
        if nearest.whole:
            exact = ", in double precision" if nearest.double else ""
            return f"In {number} compared, gradients equal {_REFERENCE[nearest.against]}{exact}."
        if nearest.settled:
            return (
                f"From the second step on, gradients equal {_REFERENCE[nearest.against]}; those of "
                "the first differ."
            )
        if self.cut_short:
            return (
                f"Gradients differ from {_REFERENCE['kept']}. Another run of the original, "
                "which may have the same, was ended too early to compare."
            )
        early = ", and already before it fails" if self.early else ""
        if not nearest.equal:
            return f"In {number} compared, gradients differ from the original's{early}."
        early = "; they differ already before it fails" if self.early else ""
        return (
            f"In {nearest.equal} of {steps} compared, gradients equal "
            f"{_REFERENCE[nearest.against]}{early}."
        )


def _shown(against: Against) -> Literal["kept", "truncated"]:
    """Return the API's name of a reference; one that holds a gradient
    constant is `truncated` too.
    """
    return "kept" if against == "kept" else "truncated"


_REFERENCE: Mapping[Against, str] = {
    "kept": "those of the original (every graph kept)",
    "truncated": "those of the original with all from before an earlier backward held constant",
    "constant": "those of the original with what `autograd.grad` returns held constant",
    "constant_targets": f"those of the original {TARGETS_HELD}",
}


def compare(against: Against, reference: Trace, candidate: Trace) -> ReferenceComparison:
    """Compare every step that both runs took with gradients."""
    number, idle = matched(reference, candidate), unread(reference)
    pairs = list(paired(reference, candidate))
    if not any(g.norm > 0 for pair in pairs for step in pair for g in step.gradients):
        pairs = []  # zeros are equal whatever was computed
    return ReferenceComparison(
        against, [(ours, _difference(ours, theirs, number, idle)) for ours, theirs in pairs]
    )


def cancels(kept: Trace, truncated: Trace) -> bool:
    """Return True if what lies before an earlier backward call takes nearly all of a gradient back,
    as a target does that the same weights have made.
    """
    norms = [(_norm(whole), _norm(cut)) for whole, cut in paired(kept, truncated)]
    other = [(whole, cut) for whole, cut in norms if abs(whole - cut) > TOLERANCE * max(whole, cut)]
    return bool(other) and all(whole < CANCELLED * cut for whole, cut in other)


def _norm(step: Step) -> float:
    return math.hypot(*(g.norm for g in step.gradients if g.norm < NOT_FINITE))


def unread(trace: Trace) -> set[int]:
    """Return the leaves whose gradients nothing reads, if the script reads others by hand."""
    read = {p.id for p in trace.parameters if p.read}
    return {p.id for p in trace.parameters if p.optimizer is None} - read if read else set()


def paired(reference: Trace, candidate: Trace) -> Iterator[Pair]:
    """Yield the k-th step of each optimizer in both runs, if either has gradients."""
    left, right = by_optimizer(reference), by_optimizer(candidate)
    for optimizer in left:
        for ours, theirs in zip(left[optimizer], right.get(optimizer, []), strict=False):
            if ours.gradients or theirs.gradients:
                yield ours, theirs


def by_optimizer(trace: Trace) -> dict[int, list[Step]]:
    """Return the steps of each optimizer; the steps by hand if there is no optimizer."""
    steps: dict[int, list[Step]] = defaultdict(list)
    for step in [s for s in trace.steps if s.optimizer >= 0] or trace.steps:
        steps[step.optimizer].append(step)
    return steps


def renumbered(reference: Trace, candidate: Trace) -> Trace:
    """Return the candidate's trace with the reference's parameter numbers: the patch may have
    changed which parameter comes first.
    """
    number = matched(reference, candidate)
    if all(old == new for old, new in number.items()):
        return candidate
    strangers = [p.id for p in candidate.parameters if p.id not in number]
    unused = itertools.count(max([*number, *number.values(), *strangers]) + 1)
    taken = set(number.values())
    number |= {old: next(unused) if old in taken else old for old in strangers}
    return candidate.model_copy(
        update={
            "parameters": [
                p.model_copy(update={"id": number.get(p.id, p.id)}) for p in candidate.parameters
            ],
            "steps": [
                step.model_copy(
                    update={
                        "gradients": [
                            g.model_copy(update={"param": number.get(g.param, g.param)})
                            for g in step.gradients
                        ],
                        "unused": [
                            u.model_copy(update={"params": [number.get(p, p) for p in u.params]})
                            for u in step.unused
                        ],
                    }
                )
                for step in candidate.steps
            ],
            "backwards": [
                r.model_copy(update={"received": [number.get(p, p) for p in r.received]})
                for r in candidate.backwards
            ],
        }
    )


def _difference(one: Step, other: Step, number: Mapping[int, int], idle: Collection[int]) -> float:
    """Return the largest difference between two gradients of one parameter, as a share of the norm.
    Parameters in `idle` are ignored.
    """
    left = {g.param: g for g in one.gradients if not g.none}
    right = {number.get(g.param, g.param): g for g in other.gradients if not g.none}
    norms = [g.norm for g in (*left.values(), *right.values())]
    largest = max((norm for norm in norms if norm < NOT_FINITE), default=0.0)
    params = (left.keys() | right.keys()) - set(idle)
    gaps = (gradient_gap(left.get(p), right.get(p), largest) for p in params)
    return max(gaps, default=0.0)
