"""Apex's mixed precision: everything stays as precise as the CPU has it."""

from __future__ import annotations

from collections.abc import Iterator
from contextlib import contextmanager
from types import ModuleType
from typing import Any

import torch

from .nothing import NothingModule

PROVIDES = ("apex",)
SAYS = "not installed here: nothing is rounded or scaled"


def initialize(models: Any, optimizers: Any = None, *args: Any, **kwargs: Any) -> Any:
    """The models and optimizers, as they are."""
    return models if optimizers is None else (models, optimizers)


@contextmanager
def scale_loss(loss: Any, *args: Any, **kwargs: Any) -> Iterator[Any]:
    """The loss times a scale: another tensor, of the same graph."""
    yield loss * 1.0


def master_params(optimizer: Any) -> Iterator[Any]:
    """What the optimizer holds."""
    return (tensor for group in optimizer.param_groups for tensor in group["params"])


def _same(module: Any, *args: Any, **kwargs: Any) -> Any:
    return module


def module(name: str) -> ModuleType:
    """`apex`, `apex.amp`, `apex.normalization`, `apex.optimizers`, `apex.parallel`."""
    amp = {"initialize": initialize, "scale_loss": scale_loss, "master_params": master_params}
    fused: dict[str, Any] = {"FusedAdam": torch.optim.Adam, "FusedSGD": torch.optim.SGD}
    fused |= {"FusedLayerNorm": torch.nn.LayerNorm}
    parallel = {"DistributedDataParallel": _same, "convert_syncbn_model": _same}
    return NothingModule(name, **(amp if name.endswith("amp") else {**fused, **parallel}))
