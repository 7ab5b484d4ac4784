"""The names and nodes that carried an old graph to the backward call that reaches it."""

from __future__ import annotations

from analyzers.reading.graph import NameBinding, Reached, TapeNode, Traversal
from provenance import Node, Referrer

MAX_HOLDERS = 12


def public(node: TapeNode) -> Node:
    """Return a node as evidence."""
    return Node(node.op, node.at, made_after=node.made_after)


def holder_of(binding: NameBinding, when: str) -> Referrer:
    """Return a name as evidence; `when` it held the tensor: now, or when the graph was freed."""
    return Referrer(
        binding.path,
        binding.scope,
        binding.kind,  # type: ignore[arg-type]
        binding.container,
        "freed" if when == "freed" else "now",
        binding.frame,
    )


def carriers_of(
    old: TapeNode,
    child: TapeNode | None,
    freed: Traversal,
    found: Reached,
    roots: tuple[TapeNode, ...],
) -> tuple[list[TapeNode], TapeNode | None]:
    """Return the nodes whose tensors may have carried the freed graph, and the first new consumer.

    What derives from a freed node, was made before it was freed and was not reached then carries
    its graph as well: a slice of it, the other output of a recurrent layer. If the root is as old,
    both backward calls share the freed node.
    """
    carriers = [old]
    if any(root.made_after < freed.call.n for root in roots):
        return carriers, child
    while child is not None and child.made_after < freed.call.n:
        carriers.insert(0, child)
        child = found.entered.get(child)
    return carriers, child


def holders(
    sources: list[TapeNode], new: TapeNode | None, freed: Traversal, traversal: Traversal
) -> tuple[Referrer, ...]:
    """Return the names that held the tensor when its graph was freed, best first.

    First are names alive then and when the new graph was made, in a frame that both calls share, by
    which the new graph read the tensor.
    """
    shared = {p.frame for p in freed.call.stack} & {p.frame for p in traversal.call.stack}
    read = set(new.reads) if new is not None else set()
    born = new.born if new is not None else traversal.moment
    ranked: list[tuple[tuple[bool, int, bool, bool, bool, int], Referrer]] = []
    for distance, source in enumerate(dict.fromkeys([*sources, *_below(sources[-1])])):
        for binding in source.names:
            end = binding.end()
            if binding.moment > freed.moment or (end < freed.moment and distance):
                continue
            here = binding.frame in shared or binding.kind != "local"
            rank = (
                end < freed.moment,
                distance,
                end < born,
                not here,
                binding.last_part() not in read,
                -binding.moment,
            )
            ranked.append((rank, holder_of(binding, "now" if end >= traversal.moment else "freed")))
        if any(not rank[0] for rank, _ in ranked):
            break
    ranked.sort(key=lambda entry: entry[0])
    return tuple(dict.fromkeys(holder for _, holder in ranked))[:MAX_HOLDERS]


def _below(node: TapeNode) -> list[TapeNode]:
    """Return a few freed nodes under this one, nearest first."""
    found = [node]
    for inner in found:
        if len(found) > 40:
            break
        found.extend(p for p in inner.parents if p.freed is not None and p not in found)
    return found[1:]
