"""The schedule of a training: which backward calls feed which step, beside the original's own.

At fixed parameters and with common random numbers a loss has the same value in the original and in
its patch. So the calls that fed a step can be told apart by what they walked, wherever they stand.
"""

from __future__ import annotations

from collections.abc import Collection, Sequence
from dataclasses import dataclass
from itertools import accumulate, takewhile
from typing import Literal

from app.repair.covering import LOOKED_AT, near, with_totals
from app.repair.effects import Comparison, by_optimizer
from app.repair.fingerprints import TOLERANCE
from app.schemas import Check
from sandbox.records import Step, Trace

Word = Literal["same", "moved", "fewer", "more", "unknown"]


@dataclass(frozen=True)
class Schedule:
    """How a patch's steps lie beside the original's; `problem` says what is not as it was, or
    cannot be meant in any training (`failed`)."""

    word: Word
    problem: str = ""
    failed: bool = False

    @property
    def check(self) -> Check:
        """As a check of the patch: one that trains nothing, or in one step, has failed. Another
        schedule may be what is wanted, so it does not fail a patch, and is never held to be the
        original's."""
        if self.failed:
            return Check(name="schedule", status="failed", detail=self.problem)
        if self.problem:
            return Check(name="schedule", status="differs", detail=f"another one: {self.problem}")
        if self.word == "unknown":
            return Check(name="schedule", status="not_run", detail="no step was seen")
        return Check(name="schedule", status="passed", detail=self.text)

    @property
    def text(self) -> str:
        """The same in a sentence without its end."""
        if self.problem:
            return self.problem
        if self.word == "same":
            return "backward calls and steps come as in the original"
        return "each step is fed by the losses that feed it in the original, in other calls"


@dataclass(frozen=True)
class _Meal:
    """What one step was given: how many calls, and the sum of their losses where all are known."""

    calls: int
    loss: float | None


def beside(original: Trace, candidate: Trace, *, ended: bool) -> Schedule:
    """Compare the steps of both runs, one by one; `ended`: both went on to the script's end."""
    if _updates(original) and idle(candidate):
        return Schedule("fewer", idle(candidate), failed=True)
    ours, theirs = by_optimizer(original), by_optimizer(candidate)
    ours = {o: [s for s in steps if not _is_end(s)] for o, steps in ours.items()}
    ours = {optimizer: steps for optimizer, steps in ours.items() if any(s.fed for s in steps)}
    if not ours:
        return Schedule("unknown")
    given = [step for steps in theirs.values() for step in steps]
    if not any(step.fed for step in given):
        if any(g.norm for step in given for g in step.gradients):  # handed over, not walked into
            return Schedule("unknown")
        return Schedule("fewer", "no step is fed by any backward call", failed=True)
    told = _all_told(original) and _all_told(candidate)
    for optimizer, steps in ours.items():
        other = theirs.get(optimizer, [])
        taken, wanted = sum(not _is_end(s) for s in other), len(steps)
        whole = ended and (optimizer >= 0 or told)  # steps by hand are told with their calls
        if whole and taken < 2 < wanted:
            problem = f"{taken} steps in all, where the original takes {wanted}"
            return Schedule("fewer", problem.replace("1 steps", "1 step"), failed=True)
        as_many = whole and taken >= wanted
        if found := _departure(original, steps, candidate, other, as_many=as_many):
            return found
        if whole and taken != wanted:
            word: Word = "fewer" if taken < wanted else "more"
            return Schedule(word, f"{taken} steps, where the original takes {wanted}")
    same = _rhythm(original) == _rhythm(candidate)[: len(_rhythm(original))]
    return Schedule("same" if same or _alike(original, candidate) else "moved")


def pooled(original: Trace, candidate: Trace, kept: Comparison) -> Schedule | None:
    """Optimizers that each step on a loss of their own, and in the patch all on the sum of these,
    with gradients that are others for it: weights that had one loss get those of the others."""
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
        meals = [_meal(original, one) for one in together]
        apart = len({call for one in together for call in one.fed}) == sum(m.calls for m in meals)
        if apart and _spans(_meal(candidate, given).loss, meals):
            whose = f"the losses of {len(meals)} optimizers, each of which has its own"
            return Schedule("moved", f"step {n + 1} is fed {whose} in the original")
    return None


def piled(trace: Trace) -> Schedule | None:
    """A training whose steps call a closure several times, each call on top of the one before."""
    first = next((step for step in trace.steps if step.piled), None)
    if first is None:
        return None
    line = f"line {first.at.line}" if first.at is not None else "a step"
    problem = f"{line} calls its closure again on gradients that the call before has left"
    return Schedule("more", problem, failed=True)


def idle(trace: Trace) -> str:
    """What to say of a script without optimizers that clears gradients time and again and never
    changes a parameter; empty of any other. The run held its parameters fixed."""
    by_hand = [step for step in trace.steps if step.at is not None]
    if len(by_hand) < 2 or any(step.optimizer >= 0 for step in by_hand) or _updates(trace):
        return ""
    return f"no parameter is changed in {len(by_hand)} passes"


def _updates(trace: Trace) -> bool:
    return any(step.changed for step in trace.steps)


def _all_told(trace: Trace) -> bool:
    """Whether there is a record of every call, not of a sample of them."""
    return trace.ended is None or len(trace.backwards) >= trace.ended.backwards


def _is_end(step: Step) -> bool:
    """Whether it is no step, but a script's end at which no gradient is left."""
    return step.optimizer < 0 and step.at is None and not step.fed


def _departure(
    original: Trace,
    ours: Sequence[Step],
    candidate: Trace,
    theirs: Sequence[Step],
    *,
    as_many: bool,
) -> Schedule | None:
    """The first step that is fed something else. Where there are as many steps in all, none is fed
    the mean of several: means of losses lie close together, and one is soon met by chance."""
    whole = [_meal(original, step) for step in ours[:LOOKED_AT]]
    for n, (step, wanted) in enumerate(zip(theirs, whole, strict=False)):
        given = _meal(candidate, step)
        if wanted.calls and not step.fed:
            return Schedule("more", f"step {n + 1} finds gradients that nothing fed")
        if near(given.loss, wanted.loss) or (
            n and near(given.loss, _meal(original, ours[n], _used(original, ours[n])).loss)
        ):
            continue
        if _spans(given.loss, whole[n:], means=not as_many):
            return Schedule("fewer", "one step is fed what feeds several steps of the original")
        if given.calls > len(ours[n].fed):
            return Schedule(
                "fewer",
                f"step {n + 1} holds the gradients of {given.calls} backward calls, where the "
                f"original's holds those of {len(ours[n].fed)}",
            )
        before = theirs[n - 1].after if n else 0
        if (
            given.calls < wanted.calls
            and _is_part(given.loss, original, ours[n])
            and not _are_walked(original, ours[n], candidate, range(before + 1, step.after + 1))
        ):
            return Schedule(
                "more",
                f"step {n + 1} holds the gradients of {given.calls} of the {wanted.calls} "
                "backward calls that feed it in the original",
            )
    return None


def reused(trace: Trace) -> str:
    """What to say of a step that uses gradients of an earlier one again, with others; empty if
    none does."""
    for step in trace.steps:
        again = _used(trace, step) & set(step.fed)
        if again and max(step.fed) > max(again):
            line = f"line {step.at.line}" if step.at is not None else "a step"
            return f"{line} steps on gradients that an earlier step has used already"
    return ""


def unspent(original: Trace, candidate: Trace) -> str:
    """What to say of a loss whose gradients feed a step in the original and none in the patch,
    although it is walked there: it trains nothing. Empty if there is none."""
    wanted = {n for step in original.steps for n in step.fed}
    taken = {n for step in candidate.steps for n in step.fed}
    last = max((step.after for step in candidate.steps), default=0)
    walked = [r for r in candidate.backwards if not r.again and r.visit.n <= last]
    lines: dict[int, bool] = {}
    for record in original.backwards[:LOOKED_AT]:
        if record.visit.n in wanted and not record.again:
            for other in walked:
                if near(other.loss, record.loss):
                    line = other.visit.at.line
                    lines[line] = lines.get(line, False) or other.visit.n in taken
    unused = sorted(line for line, used in lines.items() if not used)
    return f"no step takes the gradients of line {unused[0]}'s loss" if unused else ""


def _used(trace: Trace, step: Step) -> set[int]:
    """The calls whose gradients earlier steps have used."""
    earlier = takewhile(lambda other: other is not step, trace.steps)
    return {n for other in earlier for n in other.fed}


def _meal(trace: Trace, step: Step, without: Collection[int] = ()) -> _Meal:
    """What fed the step, without some calls, and without those that walk again what was walked:
    at fixed parameters such a walk has nothing new to give."""
    fed = set(step.fed) - set(without)
    records = [r for r in trace.backwards if r.visit.n in fed and not r.again]
    known = [r.loss for r in records if r.loss is not None]
    return _Meal(len(records), sum(known) if known and len(known) == len(records) else None)


def _spans(loss: float | None, meals: Sequence[_Meal], *, means: bool = True) -> bool:
    """Whether the loss is the sum of those of several steps in a row, or their mean."""
    known = [meal.loss for meal in meals]
    if loss is None or None in known:
        return False
    sums = list(accumulate(value for value in known if value is not None))
    return any(
        near(loss, total) or (means and near(loss, total / n))
        for n, total in enumerate(sums, 1)
        if n > 1
    )


def _is_part(loss: float | None, trace: Trace, step: Step) -> bool:
    """Whether the loss is the sum of some of the step's, from the first on or from the last."""
    fed = set(step.fed)
    losses = [r.loss for r in trace.backwards if r.visit.n in fed and r.loss is not None]
    parts = [*accumulate(losses), *accumulate(reversed(losses)), *losses]
    return any(near(loss, part) for part in parts)


def _are_walked(original: Trace, step: Step, candidate: Trace, calls: range) -> bool:
    """Whether these calls walk what feeds the original's step, be it cut from its parameters, or
    the parts of what is walked there as a sum, too."""
    walked = [r.loss for r in candidate.backwards if r.visit.n in calls]
    wanted = [r.loss for r in original.backwards if r.visit.n in set(step.fed)]
    known = [loss for loss in wanted if loss is not None]
    found = [any(near(loss, other) for other in walked) for loss in known]
    return len(known) == len(wanted) and all(with_totals(known, found))


def _rhythm(trace: Trace) -> list[tuple[int, int]]:
    """Which optimizer steps, and after how many calls since the step before."""
    steps = [s for s in trace.steps if s.at is not None][:LOOKED_AT]
    since = [0, *(step.after for step in steps)]
    return [(s.optimizer, s.after - before) for s, before in zip(steps, since, strict=False)]


def _alike(original: Trace, candidate: Trace) -> bool:
    """Whether the shorter of both rhythms begins the longer."""
    one, other = _rhythm(original), _rhythm(candidate)
    shared = min(len(one), len(other))
    return shared > 0 and one[:shared] == other[:shared]


def rewalked(candidate: Trace) -> str:
    """What the patch walks although an earlier backward of its own walked it; empty if nothing."""
    again = [r for r in candidate.backwards if r.again and r.visit.kind == "backward"]
    return (
        f"line {again[0].visit.at.line} goes through a graph that was used before" if again else ""
    )
