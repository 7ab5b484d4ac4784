"""One backward call of a hand-written engine, and the record of a second one."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field
from typing import Any

from ..core.frames import Json
from ..core.value_names import Name
from .backward_functions import BackwardFunction
from .graph_restoration import GraphRestoration
from .instances import Instances
from .received_gradients import ReceivedGradients

Edge = tuple[Any, Any, int]  # what is older, what was made from it, the call that ran below


@dataclass
class EngineBackward:
    """One outermost backward call of an engine, with the graph as it was before it."""

    walker: BackwardFunction
    begun: int  # how many instances there were
    root: Any
    call: Json
    nodes: list[Any]
    leaves: frozenset[int] = frozenset()
    names: dict[int, list[Name]] = field(default_factory=dict)
    entered: Any = None
    received: ReceivedGradients | None = None
    rewind: GraphRestoration | None = None
    stale: list[Json] = field(default_factory=list)
    recorded: bool = False  # on a tape: its nodes do not hold each other
    edges: list[Edge] = field(default_factory=list)  # to what was reached before


def edges_into_past(below: Sequence[tuple[Any, Sequence[Any]]], instances: Instances) -> list[Edge]:
    """Return the edges from what is new to what was reached before.

    They are recorded ahead of a call, which may cut the graph on its way.
    """
    visited = instances.visited_by
    above = {id(parent): node for node, parents in below if not visited(node) for parent in parents}
    return [
        _crossing((parent, node, visited(parent)), above, instances)
        for node, parents in below
        if not visited(node)
        for parent in parents
        if visited(parent)
    ]


def _crossing(edge: Edge, above: Mapping[int, Any], instances: Instances) -> Edge:
    """Climb from what is older than the call below, which did not reach it, to a newer consumer.

    The value between was carried over.
    """
    older, newer, freed = edge
    while newer is not None:
        made = instances.of(newer)
        if made is None or made.after >= freed:
            return older, newer, freed
        older, newer = newer, above.get(id(newer))
    return edge


def stale_edges_of(
    walk: EngineBackward, freeing: Mapping[int, EngineBackward], instances: Instances
) -> list[Json]:
    """Return the edges from what is new to what an earlier call reached; `freeing`: those calls."""
    visited, node = instances.visited_by, instances.node
    found: list[Edge] = [edge for edge in walk.edges if edge[2] in freeing]
    if visited(walk.root) in freeing:
        found.append((walk.root, None, visited(walk.root)))
    records: dict[tuple[int, int], Json] = {}
    for parent, consumer, backward_call in found:
        now = [name.record("now") for name in walk.names.get(id(parent), [])]
        then = freeing[backward_call].names.get(id(parent), [])
        held = now + [name.record("freed") for name in then]
        records[id(parent), id(consumer)] = {
            "new": node(consumer) if consumer is not None else None,
            "old": node(parent),
            "raising": node(walk.entered),
            "freed": backward_call,
            "holders": sorted(held, key=lambda h: len(h["path"]))[:32],
        }
    return list(records.values())


def reuse_record(
    walk: EngineBackward,
    first: EngineBackward,
    found: list[Json],
    instances: Instances,
    message: str,
) -> Json:
    """Return the record of a second call that failed; `first`: the call that had freed the
    graph."""
    root = instances.of(walk.root)
    visited, line = instances.visited_by, instances.line
    new = [node for node in walk.nodes if not visited(node)]
    again = [line(node) for node in new if instances.number(node) > first.begun]
    reused = [line(node) for node in walk.nodes if visited(node)]
    return {
        "t": "reuse",
        "message": message,
        "freed": first.call,
        "reached": walk.call,
        "same_root": root is not None and bool(root.root_of),
        "remade": bool(set(again) & set(reused) - {None}),
        "stale_edges": found[:16],
        "engine": "custom",
        "engine_class": type(walk.root).__qualname__,
    }
