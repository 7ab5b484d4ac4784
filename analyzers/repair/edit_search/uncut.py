"""Keep a graph that the script cuts off, or record what it does not record.

`torch.tensor(loss.item())` becomes `loss`; a block leaves its `no_grad`.
"""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import replace

from analyzers.evidence import Evidence, MissingGraph
from analyzers.explain.missing import kind_of
from analyzers.explain.pattern import SECOND_CHOICE, Proposal
from analyzers.explain.source_locations import SourceLocation, resolve_location
from analyzers.repair.reconnect.differentiating import differentiable_gradients
from analyzers.repair.reconnect.enable_recording import recording
from analyzers.repair.reconnect.expecting import in_expectation
from analyzers.repair.reconnect.freezing import thawed
from analyzers.repair.reconnect.resampling import sampled
from analyzers.repair.reconnect.softening import class_scores, differentiable
from analyzers.repair.reconnect.uncutting import cuts_of_loss, without_cut
from analyzers.source.project import Project


def edits(evidence: Evidence, project: Project) -> Iterator[Proposal]:
    """Yield the lost value with its graph: where the run saw it end, on the stack that led there,
    and where the loss is computed.
    """
    if not isinstance(evidence, MissingGraph) or kind_of(evidence, project) != "detached":
        return
    ended = (evidence.ended_at, *reversed(evidence.ended_stack))
    for rank, place in enumerate(dict.fromkeys(place for place in ended if place is not None)):
        where = resolve_location(project, place)
        if where is not None:
            yield from with_graph(where, min(rank, SECOND_CHOICE))
            yield from recording(where, project, min(rank, SECOND_CHOICE))
    failed = resolve_location(project, evidence.at)
    if failed is not None:
        yield from cuts_of_loss(failed, replace(evidence, holders=()), project, rank=2)
        yield from recording(failed, project, rank=SECOND_CHOICE)
    yield from thawed(project, SECOND_CHOICE + 1)


def with_graph(lost: SourceLocation, rank: int = 0) -> Iterator[Proposal]:
    """Yield the same value with its graph, or a value with a gradient in its place."""
    yield from differentiable_gradients(lost)
    yield from class_scores(lost)
    yield from in_expectation(lost)
    yield from without_cut(lost, rank)
    yield from sampled(lost)
    yield from differentiable(lost)
