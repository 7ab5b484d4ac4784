"""Several processes or GPUs: one process is the whole group."""

from __future__ import annotations

import os
import sys
from collections.abc import Callable
from typing import Any

import torch

from .finding import Report, when_imported

_ALONE = {
    "RANK": "0",
    "LOCAL_RANK": "0",
    "WORLD_SIZE": "1",
    "LOCAL_WORLD_SIZE": "1",
    "MASTER_ADDR": "127.0.0.1",
    "MASTER_PORT": "29500",
}
_SAYS = "one process is the whole group"


def install(report: Report) -> None:
    """Make process groups of one, whatever size is asked for."""
    _environment(report)
    if torch.distributed.is_available():
        _one_process(torch.distributed, report)
    when_imported("torch.nn.parallel.distributed", lambda module: _on_cpu(module, report))
    when_imported("torch.multiprocessing", lambda module: _in_here(module, report))


def _environment(report: Report) -> None:
    """Set a launcher's variables for those who cannot do without them; nobody else sees them."""
    kind: Any = type(os.environ)
    look_up = kind.__getitem__

    def get_item(self: Any, name: str) -> Any:
        try:
            return look_up(self, name)
        except KeyError:
            if name not in _ALONE:
                raise
            report("torch.distributed", _SAYS)
            return _ALONE[name]

    def get(self: Any, name: str, default: Any = None) -> Any:
        try:
            return look_up(self, name)
        except KeyError:
            return default

    kind.__getitem__, kind.get = get_item, get
    kind.__contains__ = lambda self, name: get(self, name) is not None


def _one_process(distributed: Any, report: Report) -> None:
    begin = distributed.init_process_group

    def init_process_group(*args: Any, **kwargs: Any) -> None:
        report("torch.distributed", _SAYS)
        store = distributed.HashStore()
        begin("gloo", store=store, rank=0, world_size=1)

    distributed.init_process_group = init_process_group
    core = sys.modules.get("torch.distributed.distributed_c10d")
    if core is not None:
        setattr(core, "init_process_group", init_process_group)  # noqa: B010


def _on_cpu(module: Any, report: Report) -> None:
    """Make `DistributedDataParallel` wrap a module that stays on the CPU."""
    kind = module.DistributedDataParallel
    begin = kind.__init__

    def init(self: Any, wrapped: Any, *args: Any, **kwargs: Any) -> None:
        report("torch.distributed", _SAYS)
        kwargs.pop("device_ids", None)
        kwargs.pop("output_device", None)
        begin(self, wrapped, **kwargs)

    kind.__init__ = init


def _in_here(module: Any, report: Report) -> None:
    """Make `spawn` call the function as the first process would."""

    def spawn(fn: Callable[..., Any], args: Any = (), nprocs: int = 1, *_: Any, **__: Any) -> None:
        report("torch.multiprocessing", _SAYS)
        fn(0, *args)

    module.spawn = spawn
