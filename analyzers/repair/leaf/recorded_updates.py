"""Find updates of weights in place that autograd records: the weights keep the graph of what they
follow.
"""

from __future__ import annotations

import ast
from collections.abc import Iterator

from analyzers.explain.pattern import Proposal
from analyzers.explain.reuse.features import ReuseFeatures
from analyzers.explain.source_locations import SourceLocation, resolve_location
from analyzers.repair.leaf.leaves import is_update, under_no_grad
from analyzers.source.calls import calls_of
from analyzers.source.targets import target_names
from analyzers.source.writes import writes

_WEIGHTS = ("parameters", "named_parameters", "buffers", "named_buffers", "state_dict")


def recorded_update(story: ReuseFeatures) -> SourceLocation | None:
    """Return the statement in a loop over a model's weights that made every old value by writing to
    one of them; None if something else made one.
    """
    found: SourceLocation | None = None
    for edge in story.reuse.stale_edges:
        where = resolve_location(story.project, edge.old.at)
        if where is None or not is_update(where.statement) or not any(writes(where.statement)):
            return None
        if found is not None and where.statement is not found.statement:
            return None
        found = where
    return found if found is not None and _is_over_weights(found) else None


def _is_over_weights(where: SourceLocation) -> bool:
    """Return True if the statement writes to what a loop takes from a model's weights."""
    written = {write.name for write in writes(where.statement)}
    return any(
        bool(written & set(target_names(loop.target)))
        and any(calls_of(loop.iter, *(f"torch.nn.Module.{name}" for name in _WEIGHTS)))
        for loop in where.module.loops_around(where.statement)
        if isinstance(loop, ast.For)
    )


def unrecorded(update: SourceLocation) -> Iterator[Proposal]:
    """Yield a proposal that makes this update of weights under `torch.no_grad()`."""
    name = next(write.name for write in writes(update.statement))
    yield from under_no_grad(update, 0, f"`{name}`")
