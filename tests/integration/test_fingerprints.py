"""Gradients are recorded as norms and projections; what watches operations notices nothing."""

from __future__ import annotations

from typing import Any

import pytest
import torch
from torch.utils._python_dispatch import TorchDispatchMode

from sandbox.inside.recorders import gradients

GRADIENT = torch.arange(12, dtype=torch.float32).reshape(3, 4) - 5
_Mode: Any = TorchDispatchMode  # untyped in torch


class Loud(_Mode):  # type: ignore[misc]
    def __init__(self) -> None:
        super().__init__()
        self.heard: list[str] = []

    def __torch_dispatch__(self, func: Any, types: Any, args: Any = (), kwargs: Any = None) -> Any:
        self.heard.append(str(func))
        return func(*args, **(kwargs or {}))


def test_signs_of_large_gradients_are_those_of_small_ones(monkeypatch: pytest.MonkeyPatch) -> None:
    reported = gradients.fingerprint(GRADIENT)
    monkeypatch.setattr(gradients, "SMALL", 0)
    gradients._signs.cache_clear()
    assert gradients.fingerprint(GRADIENT) == reported
    assert gradients.fingerprint(-GRADIENT)["projections"] == [-p for p in reported["projections"]]
    assert len(set(map(abs, reported["projections"]))) == gradients.PROJECTIONS
    gradients._signs.cache_clear()


def test_no_mode_hears_of_it() -> None:
    with Loud() as loud:
        reported = gradients.fingerprint(GRADIENT)
        assert not loud.heard
        assert float(GRADIENT.norm()) == pytest.approx(reported["norm"])
        assert loud.heard
