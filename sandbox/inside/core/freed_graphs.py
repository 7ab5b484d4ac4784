"""Which backward call freed which node: noted in the node, or inferred from where it was made."""

from __future__ import annotations

from bisect import bisect_right
from collections import OrderedDict, defaultdict
from collections.abc import Iterator, Sequence
from functools import lru_cache, partial

from .backward_site import TracedBackward
from .engine import Call
from .graph import ACCUMULATE, VISITED, Node, edges, is_freed
from .node_stamps import Origin, Stamp
from .stamps import Stamps

KEPT = 4096  # calls


class FreedGraphs:
    """Knows the nodes of freed graphs.

    The graph of a call that is looked at closely is traversed, and each node marked. That of any
    other is not: what such a call frees is made where the graphs of calls of its line were made
    before. A node was freed by the first of those after its making, with everything below it.
    """

    def __init__(self, stamps: Stamps) -> None:
        self._stamps = stamps
        self._origins: dict[str, set[Origin]] = defaultdict(set)  # of nodes, by line of the call
        self._unmarked = OrderedDict[int, TracedBackward]()

    def mark(self, call: Call) -> None:
        """Record that a call has freed its graph, node by node."""
        n = call.n
        for node in call.walk.nodes:
            node.metadata.setdefault(VISITED, n)
        self._origins[call.line()] |= self._stamps.origins(call.walk.nodes)

    def note(self, call: Call, backward_call: TracedBackward) -> None:
        """Record that a call has freed its graph; `backward_call` is the call without that."""
        if call.inputs or not self._stamps.are_complete:
            self.mark(call)
            return
        for node, _ in call.roots:
            node.metadata.setdefault(VISITED, call.n)
        self._unmarked[call.n] = backward_call
        if len(self._unmarked) > KEPT:
            self._unmarked.popitem(last=False)

    def calls(self, nodes: Sequence[Node]) -> dict[Node, int]:
        """Return the numbers of the calls that freed some of these nodes, or what is below them."""
        found = {n: int(n.metadata[VISITED]) for n in nodes if VISITED in n.metadata}
        if self._unmarked:
            numbers = list(self._unmarked)
            first = lru_cache(maxsize=None)(partial(self._first, numbers))
            for node, stamp in self._stamped(nodes):
                number = first(stamp.origin, bisect_right(numbers, stamp.after))
                if number is not None and node not in found:
                    found[node] = number
            self._spread(found)
        return found

    def calls_before_failure(self, nodes: Sequence[Node]) -> dict[Node, int]:
        """Return the same where a call has just failed on a freed node.

        If none is known, a call has freed what those of its line never did before.
        """
        found = self.calls(nodes)
        if self._unmarked and not any(map(is_freed, found)):
            numbers = list(self._unmarked)
            for node, stamp in self._stamped(nodes):
                later = numbers[bisect_right(numbers, stamp.after) :]
                if later and is_freed(node):
                    found[node] = later[0]
            self._spread(found)
        return found

    def _stamped(self, nodes: Sequence[Node]) -> Iterator[tuple[Node, Stamp]]:
        for node in nodes:
            if (stamp := self._stamps.of(node)) is not None:
                yield node, stamp

    def _first(self, numbers: Sequence[int], origin: Origin, begin: int) -> int | None:
        """Return the first of these calls, from an index on, whose line frees what is so made."""
        for number in numbers[begin:]:
            if origin in self._origins[self._unmarked[number].line()]:
                return number
        return None

    def _spread(self, found: dict[Node, int]) -> None:
        """Add what is below nodes that calls freed whose graphs were not traversed."""
        pending = [node for node, n in found.items() if n in self._unmarked]
        while pending:
            node = pending.pop()
            for below, _ in edges(node):
                if type(below) is ACCUMULATE:
                    continue
                if below not in found or found[below] > found[node]:
                    found[below] = found[node]
                    pending.append(below)
