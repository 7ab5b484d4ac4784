"""The schedule of a training: which backward calls feed which step, beside the original's own.

At fixed parameters and with common random numbers a loss has the same value in the original and in
its patch. So the calls that fed a step can be told apart by what they walked, wherever they stand.
"""

from __future__ import annotations

from bisect import bisect_left
from collections.abc import Sequence
from dataclasses import dataclass
from itertools import accumulate
from typing import Literal

from app.repair.effects import by_optimizer
from app.schemas import Check
from sandbox.records import Step, Trace

Word = Literal["same", "moved", "fewer", "more", "unknown"]
NEAR = 1e-4  # between two values of one loss, as a share of it
LOOKED_AT = 64  # calls and steps of each optimizer


@dataclass(frozen=True)
class Schedule:
    """How a patch's steps lie beside the original's; `problem` says what is not as it was, or
    cannot be meant in any training (`failed`)."""

    word: Word
    problem: str = ""
    failed: bool = False

    @property
    def check(self) -> Check:
        """As a check of the patch: one that trains nothing has failed. Another schedule may be
        what is wanted, so it does not fail a patch, and is never held to be the original's."""
        if self.failed:
            return Check(name="schedule", status="failed", detail=self.problem)
        if self.problem:
            return Check(name="schedule", status="not_run", detail=f"another one: {self.problem}")
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
    ours = {optimizer: steps for optimizer, steps in ours.items() if any(s.fed for s in steps)}
    if not ours:
        return Schedule("unknown")
    given = [step for steps in theirs.values() for step in steps]
    if not any(step.fed for step in given):
        if any(g.norm for step in given for g in step.gradients):  # handed over, not walked into
            return Schedule("unknown")
        return Schedule("fewer", "no step is fed by any backward call", failed=True)
    for optimizer, steps in ours.items():
        other = theirs.get(optimizer, [])
        if found := _departure(original, steps, candidate, other):
            return found
        if ended and len(steps) != len(other):
            word: Word = "fewer" if len(other) < len(steps) else "more"
            return Schedule(word, f"{len(other)} steps, where the original takes {len(steps)}")
    same = _rhythm(original) == _rhythm(candidate)[: len(_rhythm(original))]
    return Schedule("same" if same or _alike(original, candidate) else "moved")


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


def _departure(
    original: Trace, ours: Sequence[Step], candidate: Trace, theirs: Sequence[Step]
) -> Schedule | None:
    """The first step that is fed something else."""
    whole = [_meal(original, step) for step in ours[:LOOKED_AT]]
    for n, (step, wanted) in enumerate(zip(theirs, whole, strict=False)):
        given = _meal(candidate, step)
        if wanted.calls and not step.fed:
            return Schedule("more", f"step {n + 1} finds gradients that nothing fed")
        if _near(given.loss, wanted.loss) or (
            n and _near(given.loss, _meal(original, ours[n], ours[n - 1].fed).loss)
        ):
            continue
        if _spans(given.loss, whole[n:]):
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


def _meal(trace: Trace, step: Step, without: Sequence[int] = ()) -> _Meal:
    """What fed the step, without some calls, and without those that walk again what was walked:
    at fixed parameters such a walk has nothing new to give."""
    fed = set(step.fed) - set(without)
    records = [r for r in trace.backwards if r.visit.n in fed and not r.again]
    known = [r.loss for r in records if r.loss is not None]
    return _Meal(len(records), sum(known) if known and len(known) == len(records) else None)


def _spans(loss: float | None, meals: Sequence[_Meal]) -> bool:
    """Whether the loss is the sum, or the mean, of those of several steps in a row."""
    known = [meal.loss for meal in meals]
    if loss is None or None in known:
        return False
    sums = list(accumulate(value for value in known if value is not None))
    return any(
        _near(loss, total) or _near(loss, total / n) for n, total in enumerate(sums, 1) if n > 1
    )


def _is_part(loss: float | None, trace: Trace, step: Step) -> bool:
    """Whether the loss is the sum of some of the step's, from the first on or from the last."""
    fed = set(step.fed)
    losses = [r.loss for r in trace.backwards if r.visit.n in fed and r.loss is not None]
    parts = [*accumulate(losses), *accumulate(reversed(losses)), *losses]
    return any(_near(loss, part) for part in parts)


def _are_walked(original: Trace, step: Step, candidate: Trace, calls: range) -> bool:
    """Whether these calls walk what feeds the original's step, be it cut from its parameters, or
    the parts of what is walked there as a sum, too."""
    walked = [r.loss for r in candidate.backwards if r.visit.n in calls]
    wanted = [r.loss for r in original.backwards if r.visit.n in set(step.fed)]
    known = [loss for loss in wanted if loss is not None]
    found = [any(_near(loss, other) for other in walked) for loss in known]
    return len(known) == len(wanted) and all(_with_totals(known, found))


def _near(one: float | None, other: float | None) -> bool:
    if one is None or other is None:
        return False
    return abs(one - other) <= NEAR * max(abs(one), abs(other), 1e-6)


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


def strays(original: Trace, candidate: Trace) -> bool:
    """Whether losses of the original have another value in the patch, or are in no sum of it."""
    ours = [loss for _, loss in _new_losses(original)][:LOOKED_AT]
    theirs = [loss for _, loss in _new_losses(candidate)]
    if len(theirs) < len(ours):
        ours = ours[: max(len(theirs), 1)]
    return not all(_walked(ours, theirs)[0])


def covered(original: Trace, candidate: Trace) -> Check:
    """Every loss that the original walks is walked, alone or as part of a sum or a mean.

    A loss counts as left out only where all that the candidate walks is accounted for.
    """
    ours = _new_losses(original)[:LOOKED_AT]
    theirs = [loss for _, loss in _new_losses(candidate)]
    if not ours or not theirs:
        return Check(name="covered", status="not_run", detail="no loss is a number")
    walked, explained = _walked([loss for _, loss in ours], theirs)
    walked = _with_totals([loss for _, loss in ours], walked)
    lines = {line for line, _ in ours}
    lost = sorted(lines - {line for (line, _), found in zip(ours, walked, strict=True) if found})
    if lost and explained:
        detail = f"the loss of line {lost[0]} gets no backward any more"
        return Check(name="covered", status="failed", detail=detail)
    if lost:
        detail = f"no backward call was seen with the value of line {lost[0]}'s loss"
        return Check(name="covered", status="not_run", detail=detail)
    many = "1 loss gets" if len(lines) == 1 else f"{len(lines)} losses get"
    return Check(name="covered", status="passed", detail=f"{many} a backward")


def _new_losses(trace: Trace) -> list[tuple[int, float]]:
    """The line and the loss of each call that walks something new."""
    return [
        (r.visit.at.line, r.loss)
        for r in trace.backwards
        if r.outcome == "ok" and r.loss is not None and not r.again
    ]


def _walked(ours: Sequence[float], theirs: Sequence[float]) -> tuple[list[bool], bool]:
    """For each of our losses whether they walk it; and whether all that they walk is ours."""
    known = sorted(theirs)
    found = [False] * len(ours)
    matched: list[float] = []
    for start in range(len(ours)):
        total = 0.0
        for end in range(start, len(ours)):
            total += ours[end]
            for value in {total, total / (end - start + 1)}:
                if _holds(known, value):
                    matched.append(value)
                    found[start : end + 1] = [True] * (end - start + 1)
    matched.sort()
    return found, all(_holds(matched, value) for value in known)


def _with_totals(losses: Sequence[float], walked: Sequence[bool]) -> list[bool]:
    """The same, where a loss counts as walked, too, if it is the sum of several that are."""
    found = list(walked)
    for n, loss in enumerate(losses):
        sums = list(accumulate(reversed(losses[:n])))[1:]
        parts = (walked[n - k : n] for k in range(2, n + 1))
        found[n] |= any(all(part) and _near(loss, s) for part, s in zip(parts, sums, strict=True))
    return found


def _holds(known: Sequence[float], value: float) -> bool:
    """Whether the value, or one near it, is among these, which are sorted."""
    at = bisect_left(known, value)
    return any(_near(one, value) for one in known[max(at - 1, 0) : at + 1])
