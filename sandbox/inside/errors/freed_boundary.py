"""Splits a failing graph at the boundary of what an earlier backward call freed."""

from __future__ import annotations

from ..core.engine import Call
from ..core.graph import ACCUMULATE, Node, edges
from ..core.stamps import Stamps

Edge = tuple[Node | None, Node, int]  # the consumer, the producer, the producer's output


def split_at_freed(
    stamps: Stamps, call: Call, old: dict[Node, int]
) -> tuple[dict[Node, int], list[Node], list[Edge]]:
    """Split the failing graph into freed nodes (with the freeing call), new nodes and the edges
    between."""
    new: list[Node] = []
    joining: list[Edge] = []
    above: dict[Node, Edge] = {}
    pending: list[Edge] = [(None, node, number) for node, number in call.roots]
    while pending:
        consumer, node, number = pending.pop()
        if node in old:
            joining.append(_crossing(stamps, (consumer, node, number), old[node], above))
        elif node not in above and type(node) is not ACCUMULATE:
            above[node] = (consumer, node, number)
            new.append(node)
            pending += [(node, below, output) for below, output in edges(node)]
    return old, new, joining


def _crossing(stamps: Stamps, edge: Edge, freed: int, above: dict[Node, Edge]) -> Edge:
    """Climb from a node that is older than the freeing call, which did not run it, to a newer
    consumer.

    The tensor of the returned edge is the one that was carried over.
    """
    best = edge
    consumer = edge[0]
    while consumer is not None:
        stamp = stamps.of(consumer)
        if stamp is None or stamp.after >= freed:
            return best
        best = above[consumer]
        consumer = best[0]
    return edge
