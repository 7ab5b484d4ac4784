"""DDP or DeepSpeed gets the gradient of one parameter twice in one backward.

What happens: the wrapper counts a parameter's gradient as ready when its hook has fired once. A
reentrant checkpoint runs its own backward inside the backward, and reaches parameters that were
already counted: as unused (`find_unused_parameters=True`), or for another use of the same layer.

The fix: checkpoint with `use_reentrant=False` (Trainer:
`gradient_checkpointing_kwargs={"use_reentrant": False}`). If a wrapped module is called twice for
one loss, call it once on the concatenated batch.

When this fix is wrong: `find_unused_parameters=True`, which is often advised, is one of the causes.
`static_graph=True` is right only if every iteration uses the same parameters in the same way.

Broken::

    import torch
    import torch.distributed as dist
    from torch.nn.parallel import DistributedDataParallel
    from torch.utils.checkpoint import checkpoint

    dist.init_process_group("gloo", store=dist.HashStore(), rank=0, world_size=1)

    class Tower(torch.nn.Module):
        def __init__(self):
            super().__init__()
            self.layer = torch.nn.Linear(4, 4)

        def forward(self, x):
            return checkpoint(self.layer, x, use_reentrant=True)

    net = DistributedDataParallel(Tower(), find_unused_parameters=True)
    net(torch.randn(2, 4, requires_grad=True)).sum().backward()

Fixed::

    import torch
    import torch.distributed as dist
    from torch.nn.parallel import DistributedDataParallel
    from torch.utils.checkpoint import checkpoint

    dist.init_process_group("gloo", store=dist.HashStore(), rank=0, world_size=1)

    class Tower(torch.nn.Module):
        def __init__(self):
            super().__init__()
            self.layer = torch.nn.Linear(4, 4)

        def forward(self, x):
            return checkpoint(self.layer, x, use_reentrant=False)

    net = DistributedDataParallel(Tower(), find_unused_parameters=True)
    net(torch.randn(2, 4, requires_grad=True)).sum().backward()
"""

from __future__ import annotations

from analyzers.repair.settings.checkpointing import not_reentrant
from analyzers.repair.settings.modes import all_used, static_graph

ID = "GM033"
NAME = "reduced-twice"
FAMILY = "graph-reuse"
TITLE = "A parameter's gradient is ready twice in one backward"
KIND = "reduced-twice"
PREFERS = (not_reentrant, all_used, static_graph)
