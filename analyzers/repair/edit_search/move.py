"""Move the steps that change weights after the backward calls that still need them, or what reads
a gradient to where there is one.

`step_a(); loss_b.backward(); step_b()` becomes `loss_b.backward(); step_a(); step_b()`.
"""

from __future__ import annotations

from collections.abc import Iterator

from analyzers.evidence import Evidence
from analyzers.explain.inplace_changes import stale_of
from analyzers.explain.pattern import Proposal
from analyzers.explain.silent_matches import silent
from analyzers.explain.source_locations import resolve_location
from analyzers.repair.combine.one_backward import backwards_apart
from analyzers.repair.edit_search.circumstances import second_use
from analyzers.repair.leaf.reading_time import READ_AS_NONE, read_in_time
from analyzers.repair.reschedule.schedule import schedule_of
from analyzers.repair.reschedule.stepping import (
    all_steps_last,
    step_after_loop,
    steps_after_backwards,
    steps_last,
)
from analyzers.source.project import Project


def edits(evidence: Evidence, project: Project) -> Iterator[Proposal]:
    """Yield orders in which no step comes between a forward and its backward call, or in which a
    gradient is there when it is read.
    """
    fault = silent(evidence, READ_AS_NONE)
    where = resolve_location(project, fault.at) if fault is not None else None
    yield from read_in_time(where) if where is not None else ()
    use = second_use(evidence, project)
    if use is not None:
        yield from backwards_apart(use.features)
    stale = stale_of(evidence, project)
    schedule = schedule_of(stale) if stale is not None and stale.nature == "step" else None
    if schedule is not None and schedule.straight:
        yield from steps_last(schedule, rank=2)
        yield from all_steps_last(schedule)
    elif schedule is not None:
        yield from steps_after_backwards(schedule, rank=1)
        yield from step_after_loop(schedule)
