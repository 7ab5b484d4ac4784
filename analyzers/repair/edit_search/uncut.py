"""Keep a graph that the script cuts off, or record what it does not record.

`torch.tensor(loss.item())` becomes `loss`; a block leaves its `no_grad`.
"""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import replace

from analyzers.evidence import Evidence, MissingGraph
from analyzers.explain.missing import kind_of
from analyzers.explain.pattern import SECOND_CHOICE, Proposal
from analyzers.explain.reasons import reason_of
from analyzers.explain.silent_matches import silent
from analyzers.explain.source_locations import SourceLocation, resolve_location
from analyzers.repair.reconnect.differentiating import differentiable_gradients
from analyzers.repair.reconnect.enable_recording import recording, where_switched_off
from analyzers.repair.reconnect.expecting import in_expectation
from analyzers.repair.reconnect.freezing import flags_noted, left_frozen, thawed_again
from analyzers.repair.reconnect.frozen_modules import frozen_whole, thawed
from analyzers.repair.reconnect.reasoned import for_reason
from analyzers.repair.reconnect.resampling import as_parameters, reparametrized, sampled
from analyzers.repair.reconnect.softening import class_scores, differentiable
from analyzers.repair.reconnect.uncutting import cuts_of_loss, without_cut
from analyzers.source.project import Project

CONSTANT = "constant-term"
NUMBER = "a term of the loss is a number that was read out of a tensor"
"""The kind of a silent fault in which a term of the loss has no graph."""


def edits(evidence: Evidence, project: Project) -> Iterator[Proposal]:
    """Yield the lost value with its graph: where a term of the loss is a constant, and where a run
    or the source shows that the graph ends.
    """
    fault = silent(evidence, CONSTANT)
    constant = resolve_location(project, fault.seen_at) if fault is not None else None
    if constant is not None:
        yield from _with_graph(constant)
        yield from as_parameters([constant])
        yield from reparametrized(constant)
        yield from recording(constant, project)
    if isinstance(evidence, MissingGraph) and kind_of(evidence, project) == "detached":
        yield from _where_lost(evidence, project)
        yield from _on_the_way(evidence, project)


def _where_lost(evidence: MissingGraph, project: Project) -> Iterator[Proposal]:
    """Yield what undoes the cause: a switch, a freeze, or the statement at which the graph ends."""
    reason, frozen = reason_of(evidence, project), left_frozen(evidence, project)
    if reason is not None:
        yield from for_reason(reason, evidence, project)
    if frozen is not None:
        yield from thawed_again(frozen, project)
    where = where_switched_off(evidence.ended_stack, project)
    where = where or resolve_location(project, evidence.ended_at or evidence.at)
    if where is None:
        return
    yield from _with_graph(where, int(frozen is not None))
    off = evidence.lost_by in ("no_grad", "unknown")
    yield from recording(where, project, 0 if off else SECOND_CHOICE)
    if evidence.ended_at is None:
        yield from flags_noted(project)
        yield from cuts_of_loss(where, evidence, project)
        seen = evidence.how != "predicted" or frozen_whole(project) is not None
        yield from thawed(project, 0 if seen else SECOND_CHOICE + 1)


def _on_the_way(evidence: MissingGraph, project: Project) -> Iterator[Proposal]:
    """Yield what undoes a second cut: where the loss is computed, and in the calls that led to the
    first one.
    """
    failed = resolve_location(project, evidence.at)
    if failed is not None and evidence.ended_at is not None:
        yield from cuts_of_loss(failed, replace(evidence, holders=()), project, rank=2)
    for place in reversed(evidence.ended_stack):
        if (where := resolve_location(project, place)) is not None:
            yield from _with_graph(where, SECOND_CHOICE)
            yield from recording(where, project, SECOND_CHOICE)


def _with_graph(lost: SourceLocation, rank: int = 0) -> Iterator[Proposal]:
    """Yield the same value with its graph, or a value with a gradient in its place."""
    for kept in (
        differentiable_gradients,
        class_scores,
        in_expectation,
        without_cut,
        sampled,
        differentiable,
    ):
        yield from (replace(one, rank=one.rank + rank) for one in kept(lost))
