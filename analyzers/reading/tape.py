"""The autograd tape of one symbolic run: nodes, backward calls, and the faults that these find."""

from __future__ import annotations

from analyzers.evidence import GraphReuse, InplaceChange
from analyzers.reading.carriers import MAX_HOLDERS, carriers_of, holder_of, holders, public
from analyzers.reading.graph import Reached, Storage, TapeNode, Traversal
from provenance import BackwardCall, CodeLine, InplaceWrite, StaleEdge

MAX_STALE_EDGES = 8
LEAF = "leaf"  # the op of what requires a gradient and has no history


class Tape:
    """Counts backward calls and moments, and turns what backward calls reach into evidence."""

    def __init__(self, budget: int, *, suspecting: bool = False) -> None:
        self.suspecting = suspecting
        self.moment = 0
        self.calls: list[Traversal] = []
        self.budget = budget
        self.iterations: dict[tuple[str, int], int] = {}

    def tick(self) -> int:
        self.moment += 1
        return self.moment

    def node(
        self, op: str, at: CodeLine, parents: tuple[TapeNode, ...], saves: bool | None = None
    ) -> TapeNode:
        """Return a new node made here and now."""
        return TapeNode(op, at, parents, saves, len(self.calls), self.moment)

    def backward_call(
        self,
        stack: tuple[CodeLine, ...],
        root: tuple[str, ...],
        *,
        kind: str = "backward",
        retain: bool = False,
        create: bool = False,
        library: tuple[str, ...] = (),
    ) -> BackwardCall:
        """Return the record of a backward call that starts now."""
        at = stack[-1]
        count = self.iterations.get((at.file, at.line), 0) + 1
        self.iterations[(at.file, at.line)] = count
        return BackwardCall(
            at,
            n=len(self.calls) + 1,
            stack=stack,
            library=library,
            iteration=count,
            kind="grad" if kind == "grad" else "backward",
            retain=retain,
            create_graph=create,
            root=root,
        )

    def explore(self, roots: tuple[TapeNode, ...]) -> Reached:
        """Return what a backward call from the roots reaches, stopping at freed nodes."""
        found = Reached()
        certain = any(root.strong for root in roots)
        todo: list[tuple[TapeNode, TapeNode | None]] = [(root, None) for root in reversed(roots)]
        while todo:
            node, child = todo.pop()
            if node.leaf:
                found.leaves.add(node)
                continue
            if node.freed is not None:
                found.stale_edges.append((child, node))
                continue
            if node in found.entered:
                continue
            found.entered[node] = child
            found.live.append(node)
            self.budget -= 1
            parents = node.parents if self.suspecting else _followed(node, certain)
            for parent in parents:
                todo.append((parent, node))
            if self.budget <= 0:
                found.complete = False
                break
        return found

    def run(
        self, roots: tuple[TapeNode, ...], backward_call: BackwardCall
    ) -> tuple[Traversal, Reached]:
        """Run backward over the graph and free what was reached, unless it is kept."""
        traversal = Traversal(
            backward_call,
            self.tick(),
            backward_call.retain or backward_call.create_graph,
            roots=roots,
        )
        found = self.explore(roots)
        self.calls.append(traversal)
        traversal.leaves = found.leaves
        traversal.reach = len({node.made_after for node in found.live if node.times_reached})
        return traversal, found

    def towards(
        self, goals: frozenset[TapeNode], roots: tuple[TapeNode, ...], found: Reached
    ) -> Reached:
        """Return the part of what a backward call reaches that leads to the goals.

        PyTorch's engine executes no other nodes, so it neither needs nor frees what they saved.
        """
        used_by: dict[TapeNode, list[TapeNode]] = {root: [] for root in roots}
        todo = list(roots)
        while todo and self.budget > 0:
            node = todo.pop()
            self.budget -= 1
            for parent in node.parents:
                if parent not in used_by:
                    used_by[parent] = []
                    todo.append(parent)
                used_by[parent].append(node)
        needed: set[TapeNode] = set()
        todo = [goal for goal in goals if goal in used_by]
        while todo:
            node = todo.pop()
            if node not in needed:
                needed.add(node)
                todo += used_by[node]
        return Reached(
            live=[node for node in found.live if node in needed],
            stale_edges=[(child, old) for child, old in found.stale_edges if old in needed],
            entered=found.entered,
            leaves=found.leaves & needed,
            complete=found.complete,
        )

    def free(self, traversal: Traversal, found: Reached) -> None:
        """Free the nodes that the backward call reached."""
        for node in found.live:
            node.times_reached += 1
            if not traversal.keeps:
                node.freed = traversal

    def reuse(self, traversal: Traversal, found: Reached) -> GraphReuse | None:
        """Return the evidence if the backward call reached freed nodes that had saved something."""
        stale_edges: list[StaleEdge] = []
        met: list[TapeNode] = []
        freed: Traversal | None = None
        for child, old in _distinct(found.stale_edges):
            raising = self._raising(old)
            if raising is None or raising.freed is None:
                continue
            freed = freed or raising.freed
            met.append(old)
            carriers, new = carriers_of(old, child, raising.freed, found, traversal.roots)
            stale_edges.append(
                StaleEdge(
                    old=public(old),
                    new=public(new) if new is not None else None,
                    raising=public(raising),
                    freed=raising.freed.call.n,
                    holders=holders([*carriers, raising], new, raising.freed, traversal),
                )
            )
            engine = raising.engine
            if len(stale_edges) >= MAX_STALE_EDGES:
                break
        if freed is None:
            return None
        lines = {(edge.old.at.file, edge.old.at.line) for edge in stale_edges if edge.old.at}
        same_root = any(root in freed.roots for root in traversal.roots)
        remade = any((n.at.file, n.at.line) in lines for n in found.live)
        if not (same_root or remade or self.suspecting or any(old.strong for old in met)):
            return None  # it may be data that something unseen has loaded
        return GraphReuse(
            freed=freed.call,
            reached=traversal.call,
            how="predicted",
            same_root=same_root,
            remade=remade,
            stale_edges=tuple(stale_edges),
            engine="custom" if engine else "torch",
            engine_class=engine,
        )

    def _raising(self, old: TapeNode) -> TapeNode | None:
        """Return the first node at or below a freed one whose saved tensors are gone, or None."""
        seen: set[TapeNode] = set()
        todo = [old]
        while todo and self.budget > 0:
            node = todo.pop()
            if node in seen or node.leaf or node.freed is None:
                continue
            self.budget -= 1
            seen.add(node)
            if node.saves is not False:
                return node
            todo.extend(reversed(node.parents))
        return None

    def stale(self, traversal: Traversal, found: Reached) -> InplaceChange | None:
        """Return the evidence if a node's saved memory was written to since, or None."""
        for node in found.live:
            for storage, version in node.saved:
                if storage.version != version and storage.change is not None:
                    return self._changed(traversal, node, storage)
        return None

    def _changed(self, traversal: Traversal, node: TapeNode, storage: Storage) -> InplaceChange:
        assert storage.change is not None
        place, op = storage.change
        names = storage.names or (storage.leaf.names if storage.leaf else [])
        return InplaceChange(
            kind="saved",
            how="predicted",
            reached=traversal.call,
            at=traversal.call.at,
            node=public(node),
            holders=tuple(holder_of(binding, "now") for binding in names[:MAX_HOLDERS]),
            parameter=names[0].path if storage.leaf is not None and names else None,
            is_parameter=storage.leaf is not None,
            changes=(InplaceWrite(place, op=op),),
        )


def _followed(node: TapeNode, certain: bool) -> tuple[TapeNode, ...]:
    """Return the inputs that a backward call certainly passes through.

    If a graph certainly reaches a parameter, inputs that may be mere data are left out; if nothing
    is certain, a single input must be the one that carries the graph.
    """
    parents = node.parents
    if len(parents) == 1:
        return parents if parents[0].strong or not certain else ()
    return tuple([parent for parent in parents if parent.strong]) if certain else ()


def _distinct(
    stale_edges: list[tuple[TapeNode | None, TapeNode]],
) -> list[tuple[TapeNode | None, TapeNode]]:
    seen: set[TapeNode] = set()
    kept = []
    for child, old in stale_edges:
        if old not in seen:
            seen.add(old)
            kept.append((child, old))
    return kept
