"""Say which losses feed a step."""

from __future__ import annotations

from collections.abc import Collection, Sequence
from dataclasses import dataclass
from itertools import accumulate, takewhile

from app.repair.loss_coverage import near
from sandbox.records import Step, Trace


@dataclass(frozen=True)
class StepInputs:
    """What fed one step: the number of calls, and the sum of their losses if all are known."""

    calls: int
    loss: float | None


def used(trace: Trace, step: Step) -> set[int]:
    """Return the calls whose gradients earlier steps have used."""
    earlier = takewhile(lambda other: other is not step, trace.steps)
    return {n for other in earlier for n in other.fed}


def inputs_of(trace: Trace, step: Step, without: Collection[int] = ()) -> StepInputs:
    """Return what fed the step, without the calls in `without` and without those that reuse a
    graph: at fixed parameters they add nothing new.
    """
    fed = set(step.fed) - set(without)
    records = [r for r in trace.backwards if r.call.n in fed and not r.repeated]
    known = [r.loss for r in records if r.loss is not None]
    return StepInputs(len(records), sum(known) if known and len(known) == len(records) else None)


def spans(loss: float | None, inputs: Sequence[StepInputs], *, means: bool = True) -> bool:
    """Return True if the loss is the sum of those of several consecutive steps, or their mean."""
    known = [one.loss for one in inputs]
    if loss is None or None in known:
        return False
    sums = list(accumulate(value for value in known if value is not None))
    return any(
        near(loss, total) or (means and near(loss, total / n))
        for n, total in enumerate(sums, 1)
        if n > 1
    )
