"""Weights & Biases: runs that record nothing; their configuration can be read back."""

from __future__ import annotations

from types import ModuleType
from typing import Any

from .configs import AttributeDict
from .null_object import NullModule, NullObject

PROVIDES = ("wandb",)


class Run(NullObject):
    """What `wandb.init` returns."""

    def __init__(self, config: AttributeDict) -> None:
        self.config = config
        self.summary: dict[str, Any] = {}


def module(name: str) -> ModuleType:
    """Return `wandb`, or a part of it."""
    config = AttributeDict()

    def init(*args: Any, **kwargs: Any) -> Run:
        given = kwargs.get("config") or {}
        config.update(given if isinstance(given, dict) else vars(given))
        return Run(config)

    return NullModule(name, init=init, config=config, run=Run(config), summary={})
