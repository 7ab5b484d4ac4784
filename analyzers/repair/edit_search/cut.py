"""Cut a value from the graph that made it, where it is carried, stored, handed over or read.

`state = state.detach()` between two iterations; `buffer.append(x.detach())`.
"""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import replace

from analyzers.evidence import Evidence, GraphReuse, MissingGraph
from analyzers.explain.inplace_changes import stale_of
from analyzers.explain.missing import kind_of
from analyzers.explain.pattern import SECOND_CHOICE, Proposal
from analyzers.explain.source_locations import names_held, resolve_location
from analyzers.repair.copy.sharing import shared_copy
from analyzers.repair.cut.cut_carriers import at_boundary, cuts
from analyzers.repair.cut.expected import boundary_cuts, stored_cuts
from analyzers.repair.edit_search.circumstances import are_losses, second_use
from analyzers.repair.remake.constructors import derive_by_property
from analyzers.repair.reschedule.fresh_forward import detach_carried
from analyzers.repair.reschedule.schedule import schedule_of
from analyzers.repair.value_only.arrays import detached_arrays, detached_by_caller, said_with_torch
from analyzers.repair.value_only.storing import (
    dropped_first,
    reparametrised,
    stored_detached,
)
from analyzers.source.project import Project


def edits(evidence: Evidence, project: Project) -> Iterator[Proposal]:
    """Yield every cut of what was used twice, of what a step made stale, and of what had a graph
    where none can be."""
    match evidence:
        case GraphReuse():
            yield from _used_twice(evidence, project)
        case MissingGraph():
            yield from _not_wanted(evidence, project)
    stale = stale_of(evidence, project)
    if stale is None or stale.nature != "step":
        return
    schedule = schedule_of(stale)
    if schedule is not None and not schedule.straight:
        yield from detach_carried(stale, schedule)


def _used_twice(reuse: GraphReuse, project: Project) -> Iterator[Proposal]:
    """Yield the cuts of a graph that was used twice; where a store keeps it, those at the store
    first. They are a last resort for losses themselves, and within one iteration, where a cut takes
    one loss from what both should train.
    """
    use = second_use(reuse, project)
    if use is not None and use.features.calls_backward_on_all:
        return  # constants among the losses would only thin the others out
    stored = use is not None and use.stored
    made_once = use is not None and not (use.same_iteration or use.carried or stored)
    rank = SECOND_CHOICE + 1 if made_once else 0  # what is made again needs no cut
    rank += SECOND_CHOICE * (use is not None and use.summed)
    at_store = -SECOND_CHOICE if use is not None and use.constant else 0
    observed = list(cuts(reuse, project, rank, stored_first=stored, stored=at_store))
    if use is not None and not at_boundary(observed):
        observed += stored_cuts(use.features, rank + at_store + stored)  # after observed stores
        observed += boundary_cuts(use.features, rank + SECOND_CHOICE * stored)
    takes_a_loss = use is not None and (
        are_losses(use.features) or (use.same_iteration and not use.whole)
    )
    yield from (replace(one, last_resort=one.last_resort or takes_a_loss) for one in observed)


def _not_wanted(evidence: MissingGraph, project: Project) -> Iterator[Proposal]:
    """Yield cuts of a tensor with a graph that NumPy or a copy refused; before them, the same in
    torch, or a copy that shares its source's tensors.
    """
    where = resolve_location(project, evidence.at)
    kind = kind_of(evidence, project)
    if where is not None and kind == "numpy":
        yield from said_with_torch(where, project)
        names = names_held(evidence.holders)
        yield from detached_arrays(where, names)
        yield from detached_by_caller(where, names, evidence.stack, project)
    elif where is not None and kind == "deepcopy":
        yield from reparametrised(project)
        shared = list(shared_copy(evidence.holders, evidence.at, project))
        yield from shared
        rank, made = SECOND_CHOICE * bool(shared), evidence.ended_at
        yield from stored_detached(evidence.holders, evidence.at, project, rank, made)
        yield from dropped_first(evidence.holders, evidence.at, project)
        yield from derive_by_property(evidence.holders, project, rank=2)
