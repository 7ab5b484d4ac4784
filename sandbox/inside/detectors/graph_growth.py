"""Finds names that keep more graph from pass to pass."""

from __future__ import annotations

from collections import defaultdict
from collections.abc import Callable
from dataclasses import dataclass, field

from ..core.clock import number_of
from ..core.engine import Call
from ..core.frames import Json
from ..core.freed_graphs import FreedGraphs
from ..core.graph import Node, walk
from ..core.stamps import Stamps
from ..core.value_names import Name
from .evaluation_graphs import EvaluationGraphs, graphs, measured

LOOKS = (3, 5, 7, 10, 14, 20, 28, 40)  # passes of one line at which kept graphs are measured
GROWN = 3  # looks that show growth; what an epoch adds to does not grow at each
HELD = 64  # names whose graphs are looked into

Key = tuple[str, str, str]  # the line that calls backward, the scope of a name, the name


@dataclass
class _NamedSize:
    """What a name keeps at one look: `size` is of its graph, or of the collection it is.

    `tops` are the nodes of its tensors, `below` all of its graph, by number: references would keep
    them alive. `freed`: a backward call has freed some of it.
    """

    name: Name
    size: int = 0
    tops: set[int] = field(default_factory=set)
    below: set[int] = field(default_factory=set)
    freed: bool = False


@dataclass
class _Doubt:
    """A name that grows, on whose graph no backward call ran yet: one still may."""

    report: Json
    tops: set[int]


class GraphGrowth:
    """Measures what names keep as lines that call backward run repeatedly.

    Freed graphs that pile up are a fault. Graphs without any backward call so far may be gathered
    for one, at the end of an episode: a name that keeps those is doubted until a call reaches one
    of them, or it lets go of some.
    """

    def __init__(
        self, stamps: Stamps, graphs: FreedGraphs, excepted: Callable[[Call], bool]
    ) -> None:
        """Store what is asked; `excepted` accepts calls that reach ever more themselves: another
        fault."""
        self._stamps = stamps
        self._graphs = graphs
        self._excepted = excepted
        self._sizes: dict[Key, list[tuple[int, int]]] = defaultdict(list)  # and at which pass
        self._tops: dict[Key, set[int]] = {}
        self._doubts: dict[Key, _Doubt] = {}
        self._young: set[str] = set()  # lines whose calls are yet to be measured
        self._unwalked = EvaluationGraphs(stamps, LOOKS, GROWN)

    def after(self, call: Call) -> Json | None:
        """Return a record of a name that keeps ever more used graphs, else None."""
        if self._doubts:
            reached = {number_of(node) for node in call.walk.nodes}
            for key in [k for k, d in self._doubts.items() if not reached.isdisjoint(d.tops)]:
                self._forget(key)
        if call.iteration not in LOOKS:
            return None
        (self._young.discard if call.iteration == LOOKS[-1] else self._young.add)(call.line())
        return self._look(call)

    @property
    def awaits(self) -> bool:
        """Return True if any further call may show what a name keeps."""
        return bool(self._young or self._doubts)

    def doubted(self) -> Json | None:
        """Return, at the end, a record of a name whose graphs no backward call reached, else
        None."""
        doubts = (doubt.report for doubt in self._doubts.values())
        return self._unwalked.found() or next(doubts, None)

    def _look(self, call: Call) -> Json | None:
        now = {(call.line(), *key): held for key, held in self._held(call).items()}
        for key in [k for k in self._sizes if k[0] == call.line()]:
            held = now.get(key)
            shrunk = held is None or held.size < self._sizes[key][-1][0]
            if held is None or shrunk or self._is_another(key, held):
                self._forget(key)
        report = None
        for key, held in now.items():
            sizes = self._sizes[key]
            self._tops[key] = held.tops
            if sizes and held.size == sizes[-1][0]:
                continue
            sizes.append((held.size, call.iteration))
            last = sizes[-GROWN:]
            if len(last) < GROWN or self._excepted(call):
                continue
            if held.name.containers and _slows(last):
                continue  # a store of so many keys gets full
            found = _report(call, key, held.name, last)
            if held.freed:
                report = report or found
            else:
                self._doubts[key] = _Doubt(found, held.tops)
        return report

    def _is_another(self, key: Key, held: _NamedSize) -> bool:
        """Return True if the name holds nothing any more of what it held at the look before."""
        return self._tops[key].isdisjoint(held.below)

    def _forget(self, key: Key) -> None:
        self._sizes.pop(key, None)
        self._doubts.pop(key, None)

    def _held(self, call: Call) -> dict[tuple[str, str], _NamedSize]:
        """Return every name that keeps a graph; of collections, each running total in them too."""
        reached = {node for node, _ in call.roots}
        now: dict[tuple[str, str], _NamedSize] = {}
        for name, tensor in graphs().around(call.frame):
            if tensor.grad_fn in reached:
                continue
            nodes = walk([(tensor.grad_fn, 0)]).nodes if len(now) < HELD else []
            freed = bool(self._graphs.calls(nodes))
            whole = now.setdefault((name.scope, name.path.partition("[")[0]), _NamedSize(name))
            whole.name = name
            whole.size += 1 if name.containers else len(nodes)
            top, below = {number_of(tensor.grad_fn)}, {number_of(node) for node in nodes}
            whole.tops |= top
            whole.below |= top | below
            whole.freed = whole.freed or freed
            if name.containers:
                before = self._from_before(nodes, call)
                now[name.scope, name.path] = _NamedSize(name, before, top, top | below, freed)
        return now

    def _from_before(self, nodes: list[Node], call: Call) -> int:
        """Return how many of the nodes were made before the last call."""
        stamps = (self._stamps.of(node) for node in nodes)
        return sum(stamp is not None and stamp.after < call.n - 1 for stamp in stamps)


def _slows(last: list[tuple[int, int]]) -> bool:
    """Return True if the last of three sizes, each of an iteration, grew less than the second."""
    (first, one), (second, two), (third, three) = last
    return (third - second) * (two - one) < (second - first) * (three - two)


def _report(call: Call, key: Key, name: Name, sizes: list[tuple[int, int]]) -> Json:
    whole = name.record("now")
    holders = [{**whole, "path": key[2].partition("[")[0]}]
    if holders[0]["path"] != whole["path"]:
        holders.append(whole)  # what of it keeps the graph: `meters['loss'].total` of `meters`
    return {
        **call.fault(),
        "holders": holders,
        **measured(sizes),
        "counted": "tensors" if name.containers and "[" not in key[2] else "nodes",
    }
