"""A checkpointed part does something else when it runs again in the backward.

What happens: activation checkpointing discards the activations of a part and runs the part a second
time in the backward. If the second run saves other tensors than the first (a cache has grown, a
counter or flag has changed, autocast casts again, other random numbers were drawn), torch raises an
error.

The fix: make the part a function of its inputs. Switch caches off while training
(`use_cache=False`), keep counters and logs outside, put autocast inside, and draw random numbers
before the part and pass them in.

When this fix is wrong: `determinism_check="none"` is no alternative: it silences the check, and the
gradients belong to another computation than the loss.

Broken::

    import torch
    from torch.utils.checkpoint import checkpoint

    layers = torch.nn.ModuleList(torch.nn.Linear(4, 4) for _ in range(2))
    state = {"layers": 2}

    def block(x):
        for layer in layers[: state["layers"]]:
            x = torch.tanh(layer(x))
        state["layers"] = 1
        return x

    x = torch.randn(2, 4)
    checkpoint(block, x, use_reentrant=False).sum().backward()

Fixed::

    import torch
    from torch.utils.checkpoint import checkpoint

    layers = torch.nn.ModuleList(torch.nn.Linear(4, 4) for _ in range(2))
    state = {"layers": 2}

    def block(x):
        for layer in layers[: state["layers"]]:
            x = torch.tanh(layer(x))
        return x

    x = torch.randn(2, 4)
    checkpoint(block, x, use_reentrant=False).sum().backward()
    state["layers"] = 1
"""

from __future__ import annotations

from analyzers.repair.settings.checkpointing import (
    autocast_without_cache,
    counted_outside,
    drawn_before,
    uncached,
)

ID = "GM032"
NAME = "checkpoint-mismatch"
FAMILY = "graph-reuse"
TITLE = "The recomputation of a checkpoint differs from its forward"
KIND = "recomputed"
PREFERS = (uncached, counted_outside, autocast_without_cache, drawn_before)
