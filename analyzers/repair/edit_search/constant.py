"""Make constant what a loss only reads: its target, or the weight of a log-probability.

`mse(q, r + gamma * q_next)` becomes `mse(q, (r + gamma * q_next).detach())`.
"""

from __future__ import annotations

from collections.abc import Iterator

from analyzers.evidence import Evidence, KnownError, SilentFault
from analyzers.explain.bootstrap_targets import constant_target
from analyzers.explain.pattern import SECOND_CHOICE, Proposal
from analyzers.explain.reuse.features import ReuseFeatures
from analyzers.explain.reuse.policy_weights import gathered_weight
from analyzers.explain.reuse.untouched_weights import spared_by_closure
from analyzers.explain.silent_matches import silent
from analyzers.repair.cut.arguments import detached_argument
from analyzers.repair.cut.constants import (
    collected_without_graph,
    constant,
    detach_at_definition,
    detach_at_use,
    made_without_graph,
    meant_as_constant,
)
from analyzers.repair.cut.cut_carriers import cuts
from analyzers.repair.cut.detached_elsewhere import detached_elsewhere
from analyzers.repair.edit_search.circumstances import second_use
from analyzers.repair.leaf.recorded_updates import recorded_update, unrecorded
from analyzers.source.project import Project

INTENT = True
TARGET, TRAINED = "target", "bootstrap-target"
"""The kinds of a known error and of a silent fault in which a loss trains its target."""


def edits(evidence: Evidence, project: Project) -> Iterator[Proposal]:
    """Yield the value without its graph: where it is read as a constant, or where it is made."""
    fault = silent(evidence, TRAINED)
    if isinstance(evidence, KnownError) and evidence.kind == TARGET:
        yield from detached_argument(evidence, project)
    target = constant_target(fault, project) if isinstance(fault, SilentFault) else None
    if target is not None:
        yield from constant(target)
    use = second_use(evidence, project)
    if use is None:
        return
    if (update := recorded_update(use.features)) is not None:
        yield from unrecorded(update)
        return
    yield from detached_elsewhere(use.features)
    if use.reuse.same_root:
        return
    spared = use.features.in_closure and spared_by_closure(use.features)
    if spared or meant_as_constant(use.features) is not None:
        yield from _of_reuse(use.features)


def _of_reuse(features: ReuseFeatures) -> Iterator[Proposal]:
    if (weight := gathered_weight(features)) is not None:
        yield from constant(weight)
    outside = (
        not features.same_iteration and not features.bound_inside
    )  # made there, nothing keeps it
    if outside:
        yield from collected_without_graph(features)
        yield from detach_at_definition(features, rank=1)
        yield from made_without_graph(features, rank=3)
    else:
        yield from detach_at_definition(features, rank=2)
    yield from detach_at_use(features, rank=2 * outside)
    several = outside and len(features.carriers) > 1
    yield from cuts(features.reuse, features.project, 0 if several else SECOND_CHOICE + 1)
