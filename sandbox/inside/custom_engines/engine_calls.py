"""Records the backward calls of hand-written engines, as they begin and end."""

from __future__ import annotations

import sys
from collections.abc import Callable
from types import FrameType
from typing import Any

from ..core import frames
from ..core.clock import CLOCK
from ..core.emitter import Emitter
from ..core.frames import Json
from ..core.holders import ReferrerSearch
from ..core.parameters import ParameterRegistry
from ..core.sampling import sampled
from ..core.value_names import Name
from ..detectors.graph_depth import GraphDepth
from .backward_functions import BackwardFunction
from .backward_record import EngineBackward, edges_into_past, reuse_record, stale_edges_of
from .instances import LIMIT, Instances
from .leaf_steps import LeafSteps
from .received_gradients import ReceivedGradients
from .uncleared_leaves import UnclearedLeaves

KEPT = 512


class EngineCalls:
    """Begins, ends and reports calls. `outside` finds the frame that called the engine; `uncleared`
    is None where the run is not judged."""

    def __init__(
        self,
        emitter: Emitter,
        parameters: ParameterRegistry,
        instances: Instances,
        outside: Callable[[FrameType | None], FrameType | None],
        steps: LeafSteps | None,
        uncleared: UnclearedLeaves | None,
    ) -> None:
        self._emitter = emitter
        self._parameters = parameters
        self._instances = instances
        self._outside = outside
        self._steps = steps
        self._uncleared = uncleared
        self._deepening = GraphDepth() if uncleared is not None else None
        self._freeing: dict[int, EngineBackward] = {}
        self.raised = False
        self._per_line: dict[tuple[str, int], int] = {}
        self.ids: dict[int, int] = {}  # of leaves, by the number of their making

    def begin(self, walker: BackwardFunction, root: Any, frame: FrameType | None) -> EngineBackward:
        """Return a call that begins at a frame, with the graph as it is."""
        outside = self._outside(frame)
        stack = frames.stack(outside)
        at: Json = stack[-1] if stack else {"file": "", "line": 0}
        below = list(self._instances.below(root))
        nodes = [node for node, _ in below]
        names: dict[int, list[Name]] = {}
        if len(nodes) > 1:
            line = (str(at["file"]), int(at["line"]))
            self._per_line[line] = self._per_line.get(line, 0) + 1
            search = ReferrerSearch(
                lambda value: True, budget=2000, depth=4, kinds=self._instances.kinds
            )
            for name, value in search.around(outside):
                names.setdefault(id(value), []).append(name)
        backward_call = {
            "n": CLOCK.calls + 1,
            "at": at,
            "stack": stack,
            "iteration": self._per_line.get((str(at["file"]), int(at["line"])), 1),
            "kind": "backward",
            "root": sorted((name.path for name in names.get(id(root), [])), key=len)[:8],
        }
        received = None
        leaves = [node for node, parents in below if not parents]
        if len(nodes) > 1:
            numbered = {self._instances.number(leaf): leaf for leaf in leaves}
            received = ReceivedGradients(
                self._parameters, self._instances.kinds, numbered, self.ids
            )
        leaf_ids, begun = frozenset(map(id, leaves)), self._instances.newest
        walk = EngineBackward(
            walker, begun, root, backward_call, nodes, leaf_ids, names, root, received
        )
        made = self._instances.of(root)
        walk.recorded = made is not None and bool(made.recorded)
        walk.edges = edges_into_past(below, self._instances)
        return walk

    def done(self, walk: EngineBackward) -> None:
        """Mark what was reached. A call over a lone instance is no backward call."""
        if len(walk.nodes) < 2:
            return
        n = walk.call["n"] = CLOCK.calls + 1
        if walk.rewind is not None and walk.received is not None:
            walk.rewind.back(walk.received.gradients)
        oldest = n - 1
        for instance in walk.nodes:
            made = self._instances.of(instance)
            if made is not None and id(instance) not in walk.leaves:
                oldest = min(oldest, made.after)
                made.visited_by = made.visited_by or n
        if (root := self._instances.of(walk.root)) is not None:
            root.root_of = n
        self._tell(walk, "ok", n - 1 - oldest)
        self._measure(walk, n - 1 - oldest)
        CLOCK.calls += 1
        count, walk.nodes, walk.root, walk.received = len(walk.nodes), [], None, None
        walk.edges = []
        self._freeing[n] = walk
        if len(self._freeing) > KEPT or count >= LIMIT:
            del self._freeing[next(iter(self._freeing))]

    def _tell(self, walk: EngineBackward, outcome: str, reach: int) -> None:
        if outcome != "ok" or sampled(walk.call["n"]):
            received: list[int] = []
            if outcome == "ok" and walk.received is not None:
                fed = walk.received.named(self._outside(sys._getframe(1)))
                received = sorted(fed)
                if self._uncleared is not None:
                    self._uncleared.after(walk.call, walk.received, fed)
                if self._steps is not None:
                    newest = self._instances.newest
                    self._steps.after(walk.call["at"], walk.call["n"], walk.received, fed, newest)
                self._parameters.tell()
            self._emitter.emit(
                {
                    "t": "backward",
                    "call": walk.call,
                    "outcome": outcome,
                    "nodes": len(walk.nodes),
                    "reach": reach,
                    "received": received,
                    "stale": walk.stale,
                }
            )

    def _measure(self, walk: EngineBackward, reach: int) -> None:
        """Report, once, calls of a line that reach ever more of what earlier ones reached."""
        at = walk.call["at"]
        line = (at["file"], at["line"])
        if self._deepening is None or walk.received is None:
            return
        if figures := self._deepening.after(line, len(walk.nodes), reach):
            stale_edges = stale_edges_of(walk, self._freeing, self._instances)
            leaves = [node for node in walk.nodes if id(node) in walk.leaves]
            given = {name for leaf in leaves for name in walk.received.gradients(leaf)}
            self._emitter.emit(
                {
                    "t": "silent",
                    "kind": "growing-graph",
                    "call": walk.call,
                    "holders": [holder for edge in stale_edges for holder in edge["holders"]][:32],
                    "figures": figures,
                    "gradient": min(given, default=""),
                }
            )
            self._deepening = None

    def failed(self, walk: EngineBackward, error: Exception) -> None:
        """Report a second call that failed, once."""
        found = stale_edges_of(walk, self._freeing, self._instances)
        if self.raised or not found:
            return
        self.raised = True
        first = self._freeing[found[0]["freed"]]
        self._emitter.emit(reuse_record(walk, first, found, self._instances, str(error)))
        self._tell(walk, "raised", 0)
        CLOCK.calls += 1
