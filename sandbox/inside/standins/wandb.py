"""Weights & Biases: runs that record nothing; their configuration can be read back."""

from __future__ import annotations

from types import ModuleType
from typing import Any

from .nothing import Nothing, NothingModule

PROVIDES = ("wandb",)


class Config(dict[str, Any]):
    """A configuration whose keys are attributes too."""

    def __getattr__(self, name: str) -> Any:
        try:
            return self[name]
        except KeyError:
            raise AttributeError(name) from None

    def __setattr__(self, name: str, value: Any) -> None:
        self[name] = value

    def update(self, *args: Any, **kwargs: Any) -> None:
        kwargs.pop("allow_val_change", None)
        super().update(*args, **kwargs)


class Run(Nothing):
    """What `wandb.init` returns."""

    def __init__(self, config: Config) -> None:
        self.config = config
        self.summary: dict[str, Any] = {}


def module(name: str) -> ModuleType:
    """`wandb`, or a part of it."""
    config = Config()

    def init(*args: Any, **kwargs: Any) -> Run:
        given = kwargs.get("config") or {}
        config.update(given if isinstance(given, dict) else vars(given))
        return Run(config)

    return NothingModule(name, init=init, config=config, run=Run(config), summary={})
