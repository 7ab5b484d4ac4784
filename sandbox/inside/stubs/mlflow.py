"""MLflow: every call does nothing."""

from __future__ import annotations

from types import ModuleType

from .null_object import NullModule

PROVIDES = ("mlflow",)


def module(name: str) -> ModuleType:
    """Return `mlflow`, or a part of it."""
    return NullModule(name)
