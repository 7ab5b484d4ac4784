"""How much graph a script keeps alive, in whatever it keeps it."""

from __future__ import annotations

import gc

import torch

from .graph import walk

PASSES = range(2, 10)  # of one line, at which it is measured
LOOKS = 64  # in all


def kept_nodes() -> int:
    """The number of autograd nodes behind all tensors that are alive."""
    alive = [thing for thing in gc.get_objects() if issubclass(type(thing), torch.Tensor)]
    return len(walk([(t.grad_fn, 0) for t in alive if t.grad_fn is not None]).nodes)
