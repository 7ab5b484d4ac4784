"""Apex's mixed precision: everything stays as precise as the CPU has it. What else there is of the
package is as unknown as any other."""

from __future__ import annotations

from collections.abc import Iterator
from contextlib import contextmanager
from types import ModuleType
from typing import Any

from .null_object import SAYS, NullModule

__all__ = ["PROVIDES", "SAYS", "WHERE_NEEDED", "module"]

PROVIDES = ("apex",)
WHERE_NEEDED = True


def initialize(models: Any, optimizers: Any = None, *args: Any, **kwargs: Any) -> Any:
    """Return the models and optimizers unchanged."""
    return models if optimizers is None else (models, optimizers)


@contextmanager
def scale_loss(loss: Any, *args: Any, **kwargs: Any) -> Iterator[Any]:
    """Yield the loss times a scale: another tensor of the same graph."""
    yield loss * 1.0


def master_params(optimizer: Any) -> Iterator[Any]:
    """Yield the optimizer's parameters."""
    return (tensor for group in optimizer.param_groups for tensor in group["params"])


def module(name: str) -> ModuleType:
    """Return `apex`, `apex.amp`, or any other part."""
    amp = {"initialize": initialize, "scale_loss": scale_loss, "master_params": master_params}
    return NullModule(name, ("amp",), **(amp if name == "apex.amp" else {}))
