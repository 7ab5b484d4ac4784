"""Combine backward calls: one call on the sum of the losses, or on the newest loss of a total.

`a.backward(); b.backward()` becomes `(a + b).backward()`; a backward call in each iteration becomes
one after the loop.
"""

from __future__ import annotations

from collections.abc import Iterator

from analyzers.evidence import Evidence
from analyzers.explain.inplace_changes import StaleValue, stale_of
from analyzers.explain.pattern import Proposal
from analyzers.explain.source_locations import resolve_location
from analyzers.repair.combine.combining import (
    backward_before,
    runs_backward_per_part,
    sum_after_loop,
)
from analyzers.repair.combine.one_backward import one_backward, sum_with_earlier_backward
from analyzers.repair.combine.totals import backward_of_this_loss, restart_total_after_backward
from analyzers.repair.edit_search.circumstances import SecondUse, second_use
from analyzers.repair.reschedule.schedule import schedule_of
from analyzers.source.project import Project


def edits(evidence: Evidence, project: Project) -> Iterator[Proposal]:
    """Yield sums of losses that share a graph, and calls on what a total has gained."""
    use = second_use(evidence, project)
    if use is not None:
        yield from _of_losses(use)
    stale = stale_of(evidence, project)
    if stale is not None and stale.nature == "step":
        yield from _with_earlier(stale)


def _of_losses(use: SecondUse) -> Iterator[Proposal]:
    if runs_backward_per_part(use.features):
        yield from backward_before(use.features)
    if use.whole or use.summed:
        yield from restart_total_after_backward(use.features)
        yield from backward_of_this_loss(use.features)
    else:
        yield from one_backward(use.features)
    if use.by_part or not (use.whole or use.stepped):  # one step for many trains something else
        yield from sum_after_loop(use.features)


def _with_earlier(stale: StaleValue) -> Iterator[Proposal]:
    """Yield the sum with the loss of the backward call before, if hooks step in each call."""
    backward_call = stale.evidence.reached
    where = resolve_location(stale.project, backward_call.at) if backward_call is not None else None
    if where is not None and schedule_of(stale) is None:
        yield from sum_with_earlier_backward(where)
