"""Write into a new tensor, or into a copy, what is written in place while a graph needs it.

`x += y` becomes `x = x + y`; `x[i] = y` becomes a write into a clone of `x`; a value that an
operation saves is cloned where it is read.
"""

from __future__ import annotations

from collections.abc import Iterator
from itertools import islice

from analyzers.evidence import Evidence, InplaceChange
from analyzers.explain.inplace_changes import stale_of
from analyzers.explain.pattern import SECOND_CHOICE, Proposal
from analyzers.explain.source_locations import names_held, resolve_location
from analyzers.repair.copy.overwriting import (
    clone_first,
    clone_made,
    clone_saved,
    not_in_place,
    without_flag,
)
from analyzers.repair.copy.stacking import any_stacked, list_and_stack
from analyzers.repair.copy.viewing import (
    clone_views,
    record_view,
    rows_stacked,
    views_out_of_place,
)
from analyzers.repair.cut.recorded_rollouts import rollout_without_graph
from analyzers.source.project import Project
from analyzers.source.writes import writes

MAX_LOOPS = 3


def edits(evidence: Evidence, project: Project) -> Iterator[Proposal]:
    """Yield a list that is stacked, new tensors, layers that do not write in place, and copies of
    what is written or saved."""
    if isinstance(evidence, InplaceChange) and evidence.kind == "view":
        yield from _of_views(evidence, project)
    stale = stale_of(evidence, project)
    if stale is None or stale.nature == "step":
        return
    kept = stale.nature == "state"  # a copy in each iteration, where each could have its own
    yield from rollout_without_graph(stale) if kept else ()
    yield from list_and_stack(stale)
    yield from not_in_place(stale, rank=int(kept))
    yield from without_flag(stale)
    yield from clone_first(stale, rank=SECOND_CHOICE if kept else 2)
    yield from clone_saved(stale, rank=SECOND_CHOICE + 1 if kept else 3)
    yield from clone_made(stale, rank=SECOND_CHOICE + 2)


def _of_views(evidence: InplaceChange, project: Project) -> Iterator[Proposal]:
    where = resolve_location(project, evidence.at)
    if where is None:
        return
    names = names_held(evidence.holders, where.place.function)
    if not (names or any(writes(where.statement))):  # it was written elsewhere
        yield from islice(any_stacked(project), MAX_LOOPS)
    if evidence.is_parameter:
        return
    yield from rows_stacked(where, names)
    yield from views_out_of_place(where, names)
    yield from record_view(where, names, project)
    yield from clone_views(where, names)
