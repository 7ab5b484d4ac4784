"""Keep the graph of the first of two backward calls, or free one that a retained graph hides.

`grad(loss, x)` becomes `grad(loss, x, create_graph=True)`; as the last resort,
`loss.backward(retain_graph=True)`.
"""

from __future__ import annotations

from collections.abc import Iterator

from analyzers.evidence import Evidence
from analyzers.explain.inplace_changes import StaleValue, stale_of
from analyzers.explain.pattern import Proposal
from analyzers.repair.combine.retain_graph import (
    ask_again,
    hands_on_gradients,
    keep_for_second,
    retain_for_each,
    retain_on_both,
    retain_on_first,
)
from analyzers.repair.cut.detached_elsewhere import read_attached
from analyzers.repair.edit_search.circumstances import second_use
from analyzers.repair.reschedule.fresh_forward import freed_again
from analyzers.repair.reschedule.schedule import made_before, schedule_of
from analyzers.source.project import Project


def edits(evidence: Evidence, project: Project) -> Iterator[Proposal]:
    """Yield options of the first call, unless the loss is only to read what was made before, or
    would count twice; of a retained graph that a step made stale, its release, which shows where it
    is used again.
    """
    use = second_use(evidence, project)
    if use is not None and use.reuse.freed.kind == "grad":
        yield from keep_for_second(use.features)
    elif use is not None and not (use.counts_twice or read_attached(use.features)):
        yield from retain_for_each(use.features)
        if hands_on_gradients(use.features):
            yield from retain_on_both(use.features)
        yield from retain_on_first(use.features)
        yield from ask_again(use.features)
    stale = stale_of(evidence, project)
    if stale is not None and stale.nature == "step" and _may_be_freed(stale):
        yield from freed_again(stale)


def _may_be_freed(stale: StaleValue) -> bool:
    """Return True if no iteration needs a graph that was made before its loop."""
    schedule = schedule_of(stale)
    if schedule is None:
        return True
    kept = (made_before(loop, stale.saving) for loop in schedule.loops[:1])
    return not schedule.straight and not any(kept)
