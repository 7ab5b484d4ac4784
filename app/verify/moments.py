"""A run as a series of steps for each of its parameters, whichever optimizer takes them."""

from __future__ import annotations

from collections import defaultdict
from collections.abc import Mapping, Sequence
from dataclasses import dataclass

from sandbox.records import Gradient, Step, Trace


@dataclass(frozen=True)
class Moment:
    """One parameter in one step: the step, its gradient there, by how much its projections change
    (empty where that was not seen)."""

    step: Step
    gradient: Gradient
    change: Sequence[float] = ()


Moments = Mapping[int, Mapping[int, Moment]]
"""By parameter, then by which step of it, from 1."""


def is_by_hand(trace: Trace) -> bool:
    """Whether no optimizer takes any step."""
    return not any(step.optimizer >= 0 for step in trace.steps)


def moments(trace: Trace) -> Moments:
    """Every recorded step of each parameter."""
    found: dict[int, dict[int, Moment]] = defaultdict(dict)
    for number, step in numbered(trace):
        for gradient in step.gradients:
            found[gradient.param][number] = Moment(step, gradient, gradient.change)
    if is_by_hand(trace):
        last = {held.param: held.values for held in trace.final.values} if trace.final else {}
        for param, series in found.items():
            _add_changes(series, last.get(param, []))
    return found


def numbered(trace: Trace) -> list[tuple[int, Step]]:
    """The steps with their numbers among those of their optimizer. Of a script that updates by
    hand, what is left at its end is the last, unless it was cleared."""
    if not is_by_hand(trace):
        return [(step.count, step) for step in trace.steps if step.optimizer >= 0 and step.count]
    taken = [(step.count, step) for step in trace.steps if step.count]
    left = [step for step in trace.steps if not step.count and (step.fed or step.gradients)]
    more = [(len(taken) + 1, step) for step in left[-1:] if _has_gradient(step)]
    return [*taken, *more]


def totals(trace: Trace) -> Mapping[int, int]:
    """How many steps each parameter took in all."""
    found: dict[int, int] = defaultdict(int)
    taken = trace.final.taken if trace.final is not None else []
    for number, step in numbered(trace):
        total = taken[step.optimizer] if 0 <= step.optimizer < len(taken) else number
        for gradient in step.gradients:
            found[gradient.param] = max(found[gradient.param], total)
    return found


def _has_gradient(step: Step) -> bool:
    return any(g.norm > 0 for g in step.gradients)


def _add_changes(series: dict[int, Moment], last: Sequence[float]) -> None:
    """What a script changes by hand, from what the parameter holds at its next step."""
    end = max(series)
    for number, moment in series.items():
        after = series.get(number + 1)
        values = after.gradient.values if after else last if number == end else []
        before = moment.gradient.values
        if before and values:
            change = [b - a for a, b in zip(before[1:], values[1:], strict=False)]
            series[number] = Moment(moment.step, moment.gradient, change)
