"""Fingerprints of gradients, so that two runs can be compared without carrying their tensors."""

from __future__ import annotations

from functools import lru_cache

import torch

from .frames import Json

PROJECTIONS = 3


@lru_cache(maxsize=512)
def _signs(size: int, which: int) -> torch.Tensor:
    """A fixed vector of ±1; it depends on nothing but its size and number.

    The bits are mixed by hand: what is drawn, even from a generator of its own, is drawn anew for
    each place of the script where random numbers are common.
    """
    mixed = torch.arange(which * size + 1, (which + 1) * size + 1) * 0x1E3779B97F4A7C15
    for _ in range(3):
        mixed = (mixed ^ (mixed >> 31)) * 0x5851F42D4C957F2D
    return ((mixed >> 47) & 1).to(torch.int8) * 2 - 1


def fingerprint(gradient: torch.Tensor | None) -> Json:
    """The norm and three projections on fixed vectors of ±1, in float64."""
    if gradient is None:
        return {"norm": 0.0, "projections": [], "none": True}
    with torch.no_grad():
        dense = gradient.detach().to_dense() if gradient.is_sparse else gradient.detach()
        values = dense.to(device="cpu", dtype=torch.float64).reshape(-1)
        return {
            "norm": float(torch.linalg.vector_norm(values)),
            "projections": [
                float(values @ _signs(values.numel(), which).double())
                for which in range(PROJECTIONS)
            ],
            "none": False,
        }
