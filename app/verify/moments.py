"""View a run as a series of steps of each parameter, whichever optimizer takes them."""

from __future__ import annotations

from collections import defaultdict
from collections.abc import Mapping, Sequence
from dataclasses import dataclass

from sandbox.records import Gradient, Step, Trace


@dataclass(frozen=True)
class ParameterStep:
    """One parameter in one step: the step, its gradient there, by how much its projections change
    (empty where that was not seen)."""

    step: Step
    gradient: Gradient
    change: Sequence[float] = ()


Moments = Mapping[int, Mapping[int, ParameterStep]]
"""By parameter, then by which step of it, from 1."""


def is_by_hand(trace: Trace) -> bool:
    """Return True if no optimizer takes a step."""
    return not any(step.optimizer >= 0 for step in trace.steps)


def moments(trace: Trace) -> Moments:
    """Return every recorded step of each parameter."""
    found: dict[int, dict[int, ParameterStep]] = defaultdict(dict)
    for number, step in numbered(trace):
        for gradient in step.gradients:
            found[gradient.param][number] = ParameterStep(step, gradient, gradient.change)
    if is_by_hand(trace):
        last = {held.param: held.values for held in trace.final.values} if trace.final else {}
        for param, series in found.items():
            _add_changes(series, last.get(param, []))
    return found


def numbered(trace: Trace) -> list[tuple[int, Step]]:
    """Return the steps with their numbers within their optimizer. If a script updates by hand, the
    gradients left at its end are its last step, unless they were cleared.
    """
    if not is_by_hand(trace):
        return [(step.count, step) for step in trace.steps if step.optimizer >= 0 and step.count]
    taken = [(step.count, step) for step in trace.steps if step.count]
    left = [step for step in trace.steps if not step.count and (step.fed or step.gradients)]
    more = [(len(taken) + 1, step) for step in left[-1:] if _has_gradient(step)]
    return [*taken, *more]


def totals(trace: Trace) -> Mapping[int, int]:
    """Return how many steps each parameter took in all."""
    found: dict[int, int] = defaultdict(int)
    taken = trace.final.optimizer_steps if trace.final is not None else []
    for number, step in numbered(trace):
        total = taken[step.optimizer] if 0 <= step.optimizer < len(taken) else number
        for gradient in step.gradients:
            found[gradient.param] = max(found[gradient.param], total)
    return found


def taken(trace: Trace) -> int:
    """Return how many steps all optimizers took, or the script by hand."""
    if trace.final is not None and not is_by_hand(trace):
        return sum(trace.final.optimizer_steps)
    return max((number for number, _ in numbered(trace)), default=0)


def gaps(trace: Trace) -> Mapping[int, int]:
    """Return the number of the optimizer's step before, by the identity of each step with steps
    between the two that were not recorded.
    """
    found: dict[int, int] = {}
    last: dict[int, tuple[int, int]] = {}
    for at, (number, step) in enumerate(numbered(trace)):
        at_before, before = last.get(step.optimizer, (at, step.n or number))
        last[step.optimizer] = at, step.n or number
        if (step.n or number) - before > at - at_before:
            found[id(step)] = before
    return found


def _has_gradient(step: Step) -> bool:
    return any(g.norm > 0 for g in step.gradients)


def _add_changes(series: dict[int, ParameterStep], last: Sequence[float]) -> None:
    """Add the changes that a script makes by hand, computed from the parameter's value at its next
    step.
    """
    end = max(series)
    for number, moment in series.items():
        after = series.get(number + 1)
        values = after.gradient.values if after else last if number == end else []
        before = moment.gradient.values
        if before and values:
            change = [b - a for a, b in zip(before[1:], values[1:], strict=False)]
            series[number] = ParameterStep(moment.step, moment.gradient, change)
