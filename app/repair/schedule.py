"""Compare the schedule of a patch's training with the original's: which backward calls feed which
step.

At fixed parameters and with common random numbers, a loss has the same value in the original and in
its patch. So the calls that fed a step are identified by their losses, wherever they are in the
source.
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from itertools import accumulate
from typing import Literal

from analyzers.explain.listed import counted
from app.repair.effects import ReferenceComparison, by_optimizer
from app.repair.fingerprints import TOLERANCE
from app.repair.loss_coverage import LOOKED_AT, near, with_totals
from app.repair.step_inputs import inputs_of, spans, used
from app.run.outcome import all_recorded
from app.schemas import Check
from sandbox.records import Step, Trace

Word = Literal["same", "moved", "fewer", "more", "unknown"]


@dataclass(frozen=True)
class ScheduleComparison:
    """How a patch's steps compare with the original's. `problem` says what differs; `failed`: no
    training can intend it.
    """

    word: Word
    problem: str = ""
    failed: bool = False

    @property
    def check(self) -> Check:
        """Return the schedule as a check. A patch that trains nothing, or takes a single step,
        fails. Another schedule may be intended, so it does not fail a patch, but it is never
        reported as the original's.
        """
        if self.failed:
            return Check(name="schedule", status="failed", detail=self.problem)
        if self.problem:
            return Check(name="schedule", status="differs", detail=f"another one: {self.problem}")
        if self.word == "unknown":
            return Check(name="schedule", status="not_run", detail="no step was seen")
        return Check(name="schedule", status="passed", detail=self.text)

    @property
    def text(self) -> str:
        """Return the schedule as a sentence without its full stop."""
        if self.problem:
            return self.problem
        if self.word == "same":
            return "backward calls and steps are those of the original"
        losses = "each step uses gradients of the same losses as in the original"
        return f"{losses}, from other backward calls"


def compare_steps(original: Trace, candidate: Trace, *, ended: bool) -> ScheduleComparison:
    """Compare the steps of both runs one by one. `ended`: both ran to the script's end."""
    if _updates(original) and idle(candidate):
        return ScheduleComparison("fewer", idle(candidate), failed=True)
    ours, theirs = by_optimizer(original), by_optimizer(candidate)
    ours = {o: [s for s in steps if not _is_end(s)] for o, steps in ours.items()}
    ours = {optimizer: steps for optimizer, steps in ours.items() if any(s.fed for s in steps)}
    if not ours:
        return ScheduleComparison("unknown")
    given = [step for steps in theirs.values() for step in steps]
    if not any(step.fed for step in given):
        if any(
            g.norm for step in given for g in step.gradients
        ):  # assigned, not computed by backward
            return ScheduleComparison("unknown")
        return ScheduleComparison("fewer", "no step is fed by any backward call", failed=True)
    recorded = all_recorded(original) and all_recorded(candidate)
    for optimizer, steps in ours.items():
        other = theirs.get(optimizer, [])
        taken, wanted = sum(not _is_end(s) for s in other), len(steps)
        whole = ended and (
            optimizer >= 0 or recorded
        )  # steps by hand are recorded with their calls
        if whole and taken < 2 < wanted:
            problem = f"{taken} steps in all, where the original takes {wanted}"
            return ScheduleComparison("fewer", problem.replace("1 steps", "1 step"), failed=True)
        as_many = whole and taken >= wanted
        if found := _departure(original, steps, candidate, other, as_many=as_many):
            return found
        if whole and taken != wanted:
            word: Word = "fewer" if taken < wanted else "more"
            return ScheduleComparison(word, f"{taken} steps, where the original takes {wanted}")
    same = _rhythm(original) == _rhythm(candidate)[: len(_rhythm(original))]
    return ScheduleComparison("same" if same or _alike(original, candidate) else "moved")


def pooled(
    original: Trace, candidate: Trace, kept: ReferenceComparison
) -> ScheduleComparison | None:
    """Return a differing schedule if optimizers that each stepped on a loss of their own all step
    on the sum in the patch, with other gradients: then weights that had one loss get those of the
    others. It fails if none of them keeps its gradients: each gets its adversary's loss.
    """
    ours, theirs = by_optimizer(original), by_optimizer(candidate)
    for step, gap in kept.differences if len(ours) > 1 else ():
        n = next(n for n, one in enumerate(ours[step.optimizer]) if one is step)
        if gap <= TOLERANCE or n >= LOOKED_AT:
            continue
        given = theirs[step.optimizer][n]
        together = [
            own[n]
            for optimizer, own in ours.items()
            if n < min(len(own), len(theirs.get(optimizer, ())))
            and set(theirs[optimizer][n].fed) & set(given.fed)
        ]
        inputs = [inputs_of(original, one) for one in together]
        apart = len({call for one in together for call in one.fed}) == sum(m.calls for m in inputs)
        if apart and spans(inputs_of(candidate, given).loss, inputs):
            whose = f"the losses of {len(inputs)} optimizers, each of which has its own"
            problem = f"step {n + 1} is fed {whose} in the original"
            gaps = [other for one, other in kept.differences if any(one is s for s in together)]
            rivals = len(gaps) == len(together) and min(gaps) > TOLERANCE
            return ScheduleComparison("moved", problem, failed=rivals)
    return None


def piled(trace: Trace) -> ScheduleComparison | None:
    """Return a failed schedule if steps call a closure several times and each call adds to the
    gradients of the one before.
    """
    first = next((step for step in trace.steps if step.closure_accumulated), None)
    if first is None:
        return None
    line = f"line {first.at.line}" if first.at is not None else "a step"
    problem = f"{line} calls its closure again on gradients that the call before has left"
    return ScheduleComparison("more", problem, failed=True)


def idle(trace: Trace) -> str:
    """Describe a script without optimizers that repeatedly clears gradients and never changes a
    parameter; return an empty string for any other. The run held its parameters fixed.
    """
    by_hand = [step for step in trace.steps if step.at is not None]
    if len(by_hand) < 2 or any(step.optimizer >= 0 for step in by_hand) or _updates(trace):
        return ""
    return f"no parameter is changed in {counted(len(by_hand), 'iteration')}"


def _updates(trace: Trace) -> bool:
    return any(step.changed for step in trace.steps)


def _is_end(step: Step) -> bool:
    """Return True if the record is not a step but the script's end, where no gradient is left."""
    return step.optimizer < 0 and step.at is None and not step.fed


def _departure(
    original: Trace,
    ours: Sequence[Step],
    candidate: Trace,
    theirs: Sequence[Step],
    *,
    as_many: bool,
) -> ScheduleComparison | None:
    """Return the first step that is fed something else. With `as_many` steps in both runs, means of
    several losses are not considered: they lie close together and match by chance.
    """
    whole = [inputs_of(original, step) for step in ours[:LOOKED_AT]]
    for n, (step, wanted) in enumerate(zip(theirs, whole, strict=False)):
        given = inputs_of(candidate, step)
        if wanted.calls and not step.fed:
            return ScheduleComparison("more", f"no backward call feeds step {n + 1}")
        if near(given.loss, wanted.loss) or (
            n and near(given.loss, inputs_of(original, ours[n], used(original, ours[n])).loss)
        ):
            continue
        if spans(given.loss, whole[n:], means=not as_many):
            return ScheduleComparison(
                "fewer", "one step uses the gradients of several steps of the original"
            )
        if given.calls > len(ours[n].fed):
            return ScheduleComparison(
                "fewer",
                f"step {n + 1} holds the gradients of {counted(given.calls, 'backward call')}, "
                f"where the original's holds those of {len(ours[n].fed)}",
            )
        before = theirs[n - 1].after if n else 0
        if (
            given.calls < wanted.calls
            and _is_part(given.loss, original, ours[n])
            and not _are_reached(original, ours[n], candidate, range(before + 1, step.after + 1))
        ):
            return ScheduleComparison(
                "more",
                f"step {n + 1} holds the gradients of {given.calls} of the {wanted.calls} "
                "backward calls that feed it in the original",
            )
    return None


def reused(trace: Trace) -> str:
    """Describe a step that uses gradients of an earlier one again, together with new ones; return
    an empty string if none does.
    """
    for step in trace.steps:
        again = used(trace, step) & set(step.fed)
        if again and max(step.fed) > max(again):
            line = f"line {step.at.line}" if step.at is not None else "a step"
            return f"{line} steps on gradients that an earlier step has used already"
    return ""


def untrained_loss(original: Trace, candidate: Trace) -> str:
    """Describe a loss whose gradients feed a step in the original and none in the patch, although
    backward runs on it there: it trains nothing. Return an empty string if there is none.
    """
    wanted = {n for step in original.steps for n in step.fed}
    taken = {n for step in candidate.steps for n in step.fed}
    last = max((step.after for step in candidate.steps), default=0)
    reached = [r for r in candidate.backwards if not r.repeated and r.call.n <= last]
    lines: dict[int, bool] = {}
    for record in original.backwards[:LOOKED_AT]:
        if record.call.n in wanted and not record.repeated:
            for other in reached:
                if near(other.loss, record.loss):
                    line = other.call.at.line
                    lines[line] = lines.get(line, False) or other.call.n in taken
    unused = sorted(line for line, used in lines.items() if not used)
    return f"no step takes the gradients of line {unused[0]}'s loss" if unused else ""


def _is_part(loss: float | None, trace: Trace, step: Step) -> bool:
    """Return True if the loss is the sum of some of the step's losses, counted from the first or
    from the last.
    """
    fed = set(step.fed)
    losses = [r.loss for r in trace.backwards if r.call.n in fed and r.loss is not None]
    parts = [*accumulate(losses), *accumulate(reversed(losses)), *losses]
    return any(near(loss, part) for part in parts)


def _are_reached(original: Trace, step: Step, candidate: Trace, calls: range) -> bool:
    """Return True if these calls backpropagate the losses that feed the original's step, even if
    cut from their parameters, or the parts of a loss that is a sum there.
    """
    reached = [r.loss for r in candidate.backwards if r.call.n in calls]
    wanted = [r.loss for r in original.backwards if r.call.n in set(step.fed)]
    known = [loss for loss in wanted if loss is not None]
    found = [any(near(loss, other) for other in reached) for loss in known]
    return len(known) == len(wanted) and all(with_totals(known, found))


def _rhythm(trace: Trace) -> list[tuple[int, int]]:
    """Return for each step its optimizer and the number of calls since the step before."""
    steps = [s for s in trace.steps if s.at is not None][:LOOKED_AT]
    since = [0, *(step.after for step in steps)]
    return [(s.optimizer, s.after - before) for s, before in zip(steps, since, strict=False)]


def _alike(original: Trace, candidate: Trace) -> bool:
    """Return True if the shorter rhythm of the two runs is the beginning of the longer."""
    one, other = _rhythm(original), _rhythm(candidate)
    shared = min(len(one), len(other))
    return shared > 0 and one[:shared] == other[:shared]


def repeated_backward(candidate: Trace) -> str:
    """Describe the first backward call of the patch that reuses a graph; return an empty string if
    there is none.
    """
    again = [r for r in candidate.backwards if r.repeated and r.call.kind == "backward"]
    return (
        f"line {again[0].call.at.line} goes through a graph that was used before" if again else ""
    )
