"""Keep a leaf a leaf: update it where nothing is recorded, or make the new tensor the leaf.

`w -= lr * w.grad` goes under `no_grad`; `w = w - lr * w.grad` becomes such an update, or ends in
`.detach().requires_grad_()`.
"""

from __future__ import annotations

from collections.abc import Iterator

from analyzers.evidence import Evidence, InplaceChange, MissingGraph
from analyzers.explain.missing import kind_of
from analyzers.explain.pattern import Proposal
from analyzers.explain.silent_matches import silent
from analyzers.explain.source_locations import names_held, resolve_location
from analyzers.repair.leaf.adapted import adapted
from analyzers.repair.leaf.leafhood import detached_instead, keep_gradient, leaf_last
from analyzers.repair.leaf.leaves import (
    is_made_by_hand,
    is_value_of_forward,
    leaf_out_of_place,
    under_no_grad,
)
from analyzers.repair.leaf.rebinding import UNMOVED, leaf_again, leaf_kept, updates_of
from analyzers.source.project import Project


def edits(evidence: Evidence, project: Project) -> Iterator[Proposal]:
    """Yield an update under `no_grad`, a new tensor in the leaf's place, or a leaf made of it."""
    if isinstance(evidence, InplaceChange):
        yield from _written(evidence, project)
    elif isinstance(evidence, MissingGraph):
        yield from _computed(evidence, project)
    for one in updates_of(evidence, project):
        yield from leaf_kept(one, held=not silent(evidence, UNMOVED))


def _computed(evidence: MissingGraph, project: Project) -> Iterator[Proposal]:
    kind = kind_of(evidence, project)
    where = resolve_location(project, evidence.ended_at or evidence.at)
    if where is not None and kind == "rebound":
        yield from leaf_kept(where)
        yield from leaf_again(where)
    elif kind == "nonleaf":
        yield from detached_instead(evidence, project)
        yield from leaf_last(evidence, project)
        yield from keep_gradient(evidence, project)


def _written(evidence: InplaceChange, project: Project) -> Iterator[Proposal]:
    where = resolve_location(project, evidence.at)
    if where is None or evidence.kind == "saved":
        return
    if evidence.kind == "view":
        yield from under_no_grad(where) if evidence.is_parameter else ()
        return
    held = evidence.is_parameter and not is_value_of_forward(where)
    new = list(adapted(where))
    yield from new
    by_hand = (held or is_made_by_hand(where)) and not new
    yield from under_no_grad(where, rank=0 if by_hand else 2)
    yield from leaf_out_of_place(where, names_held(evidence.holders, where.place.function))
