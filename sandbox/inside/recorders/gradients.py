"""Fingerprints of gradients, so that two runs can be compared without carrying their tensors."""

from __future__ import annotations

from contextlib import AbstractContextManager, nullcontext
from functools import lru_cache
from typing import Any

import torch

from ..core.frames import Json

PROJECTIONS = 3
SMALL = 4096
"""Values of a gradient whose signs are kept as the numbers that they are multiplied as."""

_unseen: Any = torch._C._DisableTorchDispatch


@lru_cache(maxsize=512)
def _signs(size: int) -> torch.Tensor:
    """Return fixed vectors of ±1, one a row; they depend on nothing but their size.

    The bits are mixed by hand: random draws, even from a generator of their own, differ for each
    place of the script where random numbers are common.
    """
    mixed = torch.arange(1, PROJECTIONS * size + 1) * 0x1E3779B97F4A7C15
    for _ in range(3):
        mixed = (mixed ^ (mixed >> 31)) * 0x5851F42D4C957F2D
    signs = ((mixed >> 47) & 1).to(torch.int8) * 2 - 1
    return signs.reshape(PROJECTIONS, size).to(torch.float64 if size <= SMALL else torch.int8)


def fingerprint(gradient: torch.Tensor | None) -> Json:
    """Return the norm and three projections on fixed vectors of ±1, in float64."""
    if gradient is None:
        return {"norm": 0.0, "projections": [], "none": True}
    with torch.no_grad(), _aside(gradient):
        dense = gradient.detach().to_dense() if gradient.is_sparse else gradient.detach()
        real = torch.view_as_real(dense) if dense.is_complex() else dense
        values = (real if real.device.type == "cpu" else real.cpu()).double().reshape(-1)
        signs = _signs(values.numel())
        return {
            "norm": float(torch.linalg.vector_norm(values)),
            "projections": [float(row.double() @ values) for row in signs]
            if signs.dtype is torch.int8
            else (signs @ values).tolist(),
            "none": False,
        }


def _aside(gradient: torch.Tensor) -> AbstractContextManager[Any]:
    """Return a context in which no mode that watches operations, ours included, sees this
    tensor."""
    return _unseen() if type(gradient) is torch.Tensor else nullcontext()
