"""Traversals of autograd graphs, and queries about their nodes."""

from __future__ import annotations

from collections import defaultdict
from collections.abc import Iterable, Iterator, Sequence
from dataclasses import dataclass, field
from typing import Any

import torch

Node = Any  # torch.autograd.graph.Node; its private parts are needed
Root = tuple[Node, int]

VISITED = "visited_by"  # metadata: the number of the call that reached and freed the node
LIMIT = 1_000_000


def accumulator_type() -> type:
    """Return the class of the nodes that add a gradient to a leaf."""
    node: Node = torch.ones((), requires_grad=True).view(()).grad_fn
    return type(node.next_functions[0][0])


ACCUMULATE = accumulator_type()


def roots_of(outputs: Iterable[Any]) -> list[Root]:
    """Return the nodes at which a backward from these tensors (or gradient edges) begins."""
    found: list[Root] = []
    for output in outputs:
        if isinstance(output, torch.Tensor):
            if output.grad_fn is not None:
                found.append((output.grad_fn, output.output_nr))
        elif getattr(output, "node", None) is not None:
            found.append((output.node, output.output_nr))
    return found


@dataclass
class GraphTraversal:
    """What lies below some roots: the nodes, the roots first, and the edges into leaves."""

    nodes: list[Node] = field(default_factory=list)
    leaves: list[tuple[Node, Node]] = field(default_factory=list)


def walk(roots: Sequence[Root], limit: int = LIMIT) -> GraphTraversal:
    """Return everything below, each node once, up to so many."""
    found = GraphTraversal()
    seen = {node for node, _ in roots}
    pending = list(seen)
    while pending and len(found.nodes) < limit:
        node = pending.pop()
        found.nodes.append(node)
        for below, _ in node.next_functions:
            if type(below) is ACCUMULATE:
                found.leaves.append((node, below))
            elif below is not None and below not in seen:
                seen.add(below)
                pending.append(below)
    return found


def executed(roots: Sequence[Root], inputs: Sequence[Any]) -> GraphTraversal:
    """Return what the engine runs: all, or the paths to the inputs if some are given."""
    below = walk(roots)
    if not inputs:
        return below
    targets = {node for node, _ in roots_of(inputs)}
    leaves = {id(t) for t in inputs if isinstance(t, torch.Tensor) and t.grad_fn is None}
    above: dict[Node, list[Node]] = defaultdict(list)
    for node in below.nodes:
        for under, _ in edges(node):
            above[under].append(node)
    asked = [edge for edge in below.leaves if id(edge[1].variable) in leaves]
    pending = [node for node in below.nodes if node in targets] + [leaf for _, leaf in asked]
    needed: set[Node] = set()
    while pending:
        for node in above[pending.pop()]:
            if node not in needed:
                needed.add(node)
                pending.append(node)
    return GraphTraversal([node for node in below.nodes if node in needed], asked)


_saved: dict[type, tuple[str, ...]] = {}


def saved_names(node: Node) -> tuple[str, ...]:
    """Return the attributes by which a node shows what it saved."""
    kind = type(node)
    names = _saved.get(kind)
    if names is None:
        known = set(dir(kind))
        names = tuple(
            sorted(
                name
                for name in known
                if name == "saved_tensors"
                or (name.startswith("_saved_") and f"_raw{name}" in known)
            )
        )
        _saved[kind] = names
    return names


def is_freed(node: Node) -> bool:
    """Return True if a backward call has freed what the node saved.

    Ask only of nodes that a freeing call ran: reading what is still saved may run unpack hooks.
    """
    for name in saved_names(node):
        try:
            getattr(node, name)
        except RuntimeError as error:
            if _says_freed(error):
                return True
    return False


def _says_freed(error: BaseException) -> bool:
    return "second time" in str(error)


def says_reused(error: BaseException) -> bool:
    """Return True if the error is about a graph (or a checkpoint) that was used before."""
    text = str(error)
    return "second time" in text or "already unpacked once" in text


def says_changed(error: BaseException) -> bool:
    """Return True if the error is about a saved tensor that was changed in place."""
    return "modified by an inplace operation" in str(error)


def op_name(node: Node) -> str:
    """Return `MulBackward0`, or the class of a custom function."""
    return str(node.name()).rpartition("::")[2]


def shape_at(node: Node, output: int) -> list[int]:
    """Return the shape of one output of the node, if torch still knows it."""
    known = getattr(node, "_input_metadata", None) or ()
    return [int(n) for n in known[output].shape] if output < len(known) else []


def edges(node: Node) -> Iterator[Root]:
    """Yield the edges downward that lead anywhere."""
    return ((below, number) for below, number in node.next_functions if below is not None)


def storage_of(tensor: torch.Tensor) -> int | None:
    """Return the identity of a tensor's memory; None for tensors that have none."""
    try:
        return int(tensor.untyped_storage()._cdata)
    except (RuntimeError, NotImplementedError, AttributeError):
        return None
