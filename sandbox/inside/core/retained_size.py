"""How much graph a script keeps alive, in whatever it keeps it."""

from __future__ import annotations

import gc

import torch

from .graph import GraphTraversal, walk

PASSES = range(2, 10)  # of one line, at which it is measured
LOOKS = 64  # in all
ENOUGH = 5  # looks at one line that show growth


def kept_nodes(iteration: int, before: int) -> int:
    """Return the number of autograd nodes of all tensors that are alive.

    If there are more than `before` when the line has been seen often enough to call that growth,
    reference cycles are collected first: once, as this takes its time.
    """
    kept = len(alive().nodes)
    if kept > before and iteration == PASSES[ENOUGH - 1]:
        gc.collect()
        kept = len(alive().nodes)
    return kept


def alive() -> GraphTraversal:
    """Return the graph of all tensors that are alive."""
    tensors = [thing for thing in gc.get_objects() if issubclass(type(thing), torch.Tensor)]
    return walk([(t.grad_fn, 0) for t in tensors if t.grad_fn is not None])
