"""TensorBoard writers that write nothing, under torch's name and under the package's own."""

from __future__ import annotations

from types import ModuleType

from .nothing import NothingModule

PROVIDES = ("torch.utils.tensorboard", "tensorboardX")
NEEDS = "tensorboard"


def module(name: str) -> ModuleType:
    """Return a module with a `SummaryWriter`."""
    return NothingModule(name)
