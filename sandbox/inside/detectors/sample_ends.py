"""Samples that pass no gradient on to their distribution: `sample()`, and `torch.normal`."""

from __future__ import annotations

import torch

from ..core.frames import Json
from ..core.graph import ACCUMULATE, Node, op_name, walk
from ..core.stamps import Stamps
from ..recorders.graph_ends import ended_in

NODES = 2000  # that are looked through for what the sample was made of
_ZERO = "NormalBackward"  # its gradients are zeros


def sample_end(node: Node, stamps: Stamps) -> tuple[list[torch.Tensor], Json] | None:
    """Return the leaves that feed the distribution of a sample that a layer computes with, and
    where it was drawn; None if it passes a gradient on, or is no input of a layer.
    """
    ended = ended_in(node.metadata)
    if ended is not None and ended.sampled and not ended.reached and ended.at is not None:
        return [leaf for known in ended.leaves if (leaf := known()) is not None], ended.at
    below = [one for one, _ in node.next_functions if one is not None]
    drawn = next((one for one in below if op_name(one).startswith(_ZERO)), None)
    if drawn is None or not any(map(is_leaf, below)):
        return None
    at = stamps.place(drawn)
    leaves = [leaf.variable for _, leaf in walk([(drawn, 0)], NODES).leaves]
    return (leaves, at) if at is not None else None


def is_leaf(node: Node) -> bool:
    """Return True for the node of a leaf."""
    return type(node) is ACCUMULATE
