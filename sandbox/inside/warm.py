"""What a warm parent does before it forks runs, and what a forked run does first."""

from __future__ import annotations

import gc


def warm_up() -> None:
    """Import what scripts import, run a small LSTM both ways, keep the result out of the GC.

    Leaves torch's global state as a fresh interpreter has it, but for what is loaded.
    """
    import numpy  # noqa: F401
    import torch
    import torch._dynamo
    import torch.fx.traceback
    import torch.optim
    import torch.utils.data
    from torch import nn

    from . import guard, resources, script_run, stubs  # noqa: F401
    from .harness import running  # noqa: F401
    from .script import versions

    stubs.load()
    resources.load()
    guard.prepare()
    versions.prepare()

    torch.set_num_threads(1)
    state = torch.get_rng_state()
    lstm, head = nn.LSTM(4, 8), nn.Linear(8, 1)
    optimizer = torch.optim.Adam([*lstm.parameters(), *head.parameters()])
    out, _ = lstm(torch.ones(3, 2, 4))
    head(out).square().mean().backward()
    optimizer.step()
    torch.set_rng_state(state)
    gc.collect()
    gc.freeze()


def settle() -> None:
    """Have torch rebuild its autograd engine, in a forked run that has no threads yet.

    torch rebuilds it at the first backward after a fork, and not safely so if several threads are
    the first together.
    """
    import torch

    torch.autograd.backward(torch.zeros((), requires_grad=True))
