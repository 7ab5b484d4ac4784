"""The operator *cut* for carried values.

Places: at the boundary that both backward calls share, in the functions that lead to the call,
where the value is stored, where it is read again. Several old nodes are cut as a set: enough names
at one site that each node is reached through one of them.
"""

from __future__ import annotations

from collections.abc import Iterator, Sequence

from analyzers.evidence import GraphReuse
from analyzers.explain.pattern import Proposal
from analyzers.explain.reuse.shared_frame import SharedFrame
from analyzers.repair.cut import between, within
from analyzers.repair.cut.cutting import Cutting
from analyzers.source.edits import EditConflict
from analyzers.source.project import Project

_BETWEEN = (
    "detach-before-loop",
    "detach-at-head",
    "detach-behind-backward",
    "detach-before-call",
    "detach-behind-yield",
)


def cuts(
    reuse: GraphReuse,
    project: Project,
    rank: int = 0,
    *,
    stored_first: bool = False,
    stored: int = 0,
) -> Iterator[Proposal]:
    """Yield every cut along the path that a run has seen, most idiomatic first, each with its rank;
    nothing if no run has seen one. `stored` ranks a cut where the value is stored, if that comes
    first.
    """
    if reuse.path and reuse.engine == "torch":
        try:
            yield from _cuts(Cutting(reuse, project), rank, stored_first, stored)
        except EditConflict:
            return


def _cuts(cutting: Cutting, rank: int, stored_first: bool, stored: int) -> Iterator[Proposal]:
    if stored_first:
        yield from within.where_collected(cutting, rank + stored)
        yield from within.where_stored(cutting, rank + stored)
        yield from within.where_handed(cutting, rank + stored)
        rank += 1
    shared = SharedFrame(cutting.reuse, cutting.project).shared
    if shared is not None:
        loop = shared.loops[0] if shared.loops else None
        yield from between.at_boundary(cutting, shared, loop, rank)
    yield from between.after_yield(cutting, rank + 1)
    yield from between.after_backward(cutting, shared, rank + 2)
    if not stored_first:
        yield from within.where_stored(cutting, rank + 2)
        yield from within.where_handed(cutting, rank + 2)
    yield from within.where_read(cutting, rank + 3)


def at_boundary(proposals: Sequence[Proposal]) -> bool:
    """Return True if one of the cuts is between two iterations and so leaves each of them whole."""
    return any(proposal.strategy in _BETWEEN for proposal in proposals)
