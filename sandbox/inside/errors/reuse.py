"""Explains a second use of a freed graph: what made it, freed it, carried it, joined it."""

from __future__ import annotations

import itertools
from collections import OrderedDict
from collections.abc import Iterable
from typing import Any

import torch

from ..core.backward_site import TracedBackward
from ..core.clock import CLOCK, number_of
from ..core.collector_search import carriers
from ..core.emitter import Emitter
from ..core.engine import Call, Observer
from ..core.frames import Json
from ..core.freed_graphs import KEPT, FreedGraphs
from ..core.graph import (
    ACCUMULATE,
    VISITED,
    GraphTraversal,
    Node,
    edges,
    is_freed,
    op_name,
    says_changed,
    says_reused,
    shape_at,
    walk,
)
from ..core.holders import ReferrerSearch
from ..core.parameters import ParameterRegistry
from ..core.stamps import Stamps
from ..core.value_names import Name
from .freed_boundary import Edge, split_at_freed

SERIAL, ROOT_OF = "serial", "root_of"

Key = tuple[int, int]


class ReuseWatch(Observer):
    """Records which call freed what and which names outlived it; reports it at the error."""

    watches = "second uses of graphs"

    def __init__(
        self, emitter: Emitter, stamps: Stamps, parameters: ParameterRegistry, graphs: FreedGraphs
    ) -> None:
        self._graphs = graphs
        self._emitter = emitter
        self._stamps = stamps
        self._parameters = parameters
        self._serials = itertools.count(1)
        self._freeing = OrderedDict[int, TracedBackward]()
        self._names: dict[int, dict[Key, list[Name]]] = {}
        self.reported = False

    def before(self, call: Call) -> None:
        """Record the names of graph-carrying tensors: they may be rebound before the error."""
        names = self._held_around(call, ReferrerSearch(_has_graph))
        call.names = [
            name.path
            for node, number in call.roots
            for name in names.get((self._serial(node), number), [])
        ]
        if not call.retain:
            self._names[call.n] = names
            if len(self._names) > KEPT // 8:
                del self._names[next(iter(self._names))]

    def after(self, call: Call) -> None:
        """Mark every node that this call has freed."""
        if self._keep(call) is not None:
            self._graphs.mark(call)

    def glanced(self, call: Call) -> None:
        """Record that the call has freed its graph, without names, and without traversing it."""
        if (backward_call := self._keep(call)) is not None:
            self._graphs.note(call, backward_call)

    def _keep(self, call: Call) -> TracedBackward | None:
        """Return the call without its graph, to be reported, if it has freed that."""
        for node, _ in call.roots:
            node.metadata.setdefault(ROOT_OF, call.n)
        if call.retain:
            return None
        backward_call = self._freeing[call.n] = call.alone()
        if len(self._freeing) > KEPT:
            self._freeing.popitem(last=False)
        return backward_call

    def failed(self, call: Call, error: Exception) -> None:
        """Report the first second use of the run.

        One over the graph of an earlier iteration may meet a weight that was stepped since before
        it reaches what was freed.
        """
        story = None
        if not self.reported and (says_reused(error) or says_changed(error)):
            story = self._story(call, error)
        if story is not None and (says_reused(error) or _is_of_earlier_pass(story)):
            self.reported = True
            self._emitter.emit(story)
        elif not call.retain:
            self.after(call)

    def within(self, call: Call, error: Exception | None) -> None:
        """Follow the calls of a hook among themselves."""
        self.before(call)
        if error is not None:
            self.failed(call, error)
        else:
            self.after(call)

    def _held_around(self, call: Call, search: ReferrerSearch) -> dict[Key, list[Name]]:
        held: dict[Key, list[Name]] = {}
        for name, tensor in search.around(call.frame):
            held.setdefault((self._serial(tensor.grad_fn), tensor.output_nr), []).append(name)
        return held

    def _serial(self, node: Node) -> int:
        serial = node.metadata.get(SERIAL)
        if serial is None:
            serial = node.metadata[SERIAL] = next(self._serials)
        return int(serial)

    def _story(self, call: Call, error: Exception) -> Json:
        known = self._graphs.calls_before_failure(walk(call.roots).nodes)
        old, new, joining = split_at_freed(self._stamps, call, known)
        now = self._held_around(call, ReferrerSearch(_has_graph, budget=20_000, depth=5, deep=True))
        stale_edges = self._stale_edges(call, old, joining, now)
        freed = stale_edges[0]["freed"] if stale_edges else self._last_freeing(call)
        again = [node for node in new if self._made_after(node, freed)]
        renewed = {_making(self._stamps, node) for node in again} - {None}
        reused = {_making(self._stamps, node) for node in old if is_freed(node)}
        trained = self._trained(old)
        same = not trained or not trained.isdisjoint(self._trained(again))
        for edge in stale_edges:
            at, op = edge["old"].get("at"), edge["old"]["op"]
            is_again = same and at is not None and (at["file"], at["line"], op) in renewed
            edge["renewed"] = is_again if at else None
        return {
            "t": "reuse",
            "message": str(error),
            "freed": self._freed_record(freed, call),
            "reached": call.record(),
            "same_root": any(_was_root(node) for node, _ in call.roots),
            "remade": same and bool(renewed & reused),
            "stale_edges": stale_edges[:16],
        }

    def _trained(self, nodes: Iterable[Node]) -> set[int]:
        """Return the parameters of optimizers that these nodes use, by number: one line may be that
        of several layers.
        """
        below: list[Any] = [
            leaf for node in nodes for leaf, _ in edges(node) if type(leaf) is ACCUMULATE
        ]
        found = [self._parameters.find(leaf.variable) for leaf in below]
        return {known.id for known in found if known is not None and known.optimizer is not None}

    def _made_after(self, node: Node, freed: int) -> bool:
        """Return True if a node was made after the call that freed the graph, in a later
        iteration."""
        stamp = self._stamps.of(node)
        return stamp is not None and stamp.after >= freed

    def _freed_record(self, freed: int, call: Call) -> Json:
        """Return the freeing call, with the number of later calls from the same line."""
        backward_call = self._freeing.get(freed, call)
        here = backward_call.line()
        later = sum(n > freed and other.line() == here for n, other in self._freeing.items())
        return {**backward_call.record(), "later": later}

    def _last_freeing(self, call: Call) -> int:
        return max(self._freeing, default=call.n)

    def _stale_edges(
        self, call: Call, old: dict[Node, int], joining: list[Edge], now: dict[Key, list[Name]]
    ) -> list[Json]:
        """Return the edges below which something was freed, the one that raised first."""
        raising = max(filter(is_freed, old), key=lambda n: int(n._sequence_nr()), default=None)
        found: dict[tuple[int, int, int], tuple[bool, int, Json]] = {}
        for consumer, producer, number in joining:
            reached = walk([(producer, number)])
            below = [node for node in reached.nodes if node in old]
            freed = sorted(filter(is_freed, below), key=lambda n: -int(n._sequence_nr()))
            key = (self._serial(producer), number, 0 if consumer is None else id(consumer))
            if not freed or key in found:
                continue
            backward_call = old[freed[0]]
            holders = self._holders(call, backward_call, producer, (key[0], number), now)
            edge = {
                "new": self._node(consumer),
                "old": self._node(producer),
                "raising": self._node(freed[0]),
                "freed": backward_call,
                "holders": holders,
                "output": number,
                "shape": shape_at(producer, number),
                "stepped": self._stepped(reached),
                "rebound": self._is_rebound(reached, holders),
            }
            found[key] = (raising not in freed, -int(producer._sequence_nr()), edge)
        return [edge for _, _, edge in sorted(found.values(), key=lambda item: item[:2])]

    def _stepped(self, below: GraphTraversal) -> bool | None:
        """Return True if a step changed trained parameters of a graph after their use in it.

        Return None if it leads to none, or no step was taken since.
        """
        used = [
            (known, stamp.steps)
            for consumer, leaf in below.leaves
            if (known := self._parameters.find(leaf.variable)) is not None
            and known.optimizer is not None
            and (stamp := self._stamps.of(consumer)) is not None
        ]
        if not any(CLOCK.steps > steps for _, steps in used):
            return None
        return any(known.changed_by > steps for known, steps in used)

    def _is_rebound(self, below: GraphTraversal, holders: list[Json]) -> bool:
        """Return True if a leaf of an optimizer fed it, and had a name that now holds something
        else."""
        found = [self._parameters.find(leaf.variable) for _, leaf in below.leaves]
        held = {known.name for known in found if known is not None and known.optimizer is not None}
        return not held.isdisjoint(holder["path"] for holder in holders)

    def _node(self, node: Node | None) -> Json | None:
        if node is None:
            return None
        stamp = self._stamps.of(node)
        record: Json = {"op": op_name(node), "number": number_of(node)}
        if stamp is not None:
            record |= {"at": stamp.at, "library": stamp.library, "made_after": stamp.after}
        return record

    def _holders(
        self, call: Call, backward_call: int, producer: Node, key: Key, now: dict[Key, list[Name]]
    ) -> list[Json]:
        freed = self._freeing.get(backward_call)
        freed_by = freed.standing.activations() if freed is not None else []
        shared = [number for number in call.standing.activations() if number in freed_by]

        def likelihood(holder: Json) -> tuple[int, int, int, bool]:
            frame = holder["frame"]
            depth = holder["path"].count(".") + holder["path"].count("[")
            near = shared.index(frame) if frame in shared else len(shared)
            return near, depth, len(holder["path"]), holder["when"] == "freed"

        held = [name.record("now") for name in now.get(key, [])]
        held += [name.record("freed") for name in self._names.get(backward_call, {}).get(key, [])]
        held = held or [name.record("now") for name in carriers(producer, key[1])]
        return sorted(held, key=likelihood)[:32]


def _was_root(node: Node) -> bool:
    """Return True if an earlier call had this node as root, and some call has freed it since.

    A call for gradients that keeps the graph is no duplicate.
    """
    return ROOT_OF in node.metadata and VISITED in node.metadata


def _is_of_earlier_pass(story: Json) -> bool:
    """Return True if the same statement has freed what the failing call reached again."""
    freed, reached = (
        [(at["file"], at["line"]) for at in story[backward_call]["stack"]]
        for backward_call in ("freed", "reached")
    )
    return bool(story["stale_edges"]) and freed == reached


def _has_graph(tensor: torch.Tensor) -> bool:
    return tensor.grad_fn is not None


def _making(stamps: Stamps, node: Node) -> tuple[str, int, str] | None:
    """Return the line that made a node, and what it is.

    What a library makes late, and caches, is located at the line of its first user.
    """
    stamp = stamps.of(node)
    at = stamp.at if stamp is not None else None
    return (at["file"], at["line"], op_name(node)) if at is not None else None
