"""MLflow: every call does nothing."""

from __future__ import annotations

from types import ModuleType

from .nothing import NothingModule

PROVIDES = ("mlflow",)


def module(name: str) -> ModuleType:
    """Return `mlflow`, or a part of it."""
    return NothingModule(name)
