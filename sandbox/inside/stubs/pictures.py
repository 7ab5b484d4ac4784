"""Pictures of noise, in place of those that were not sent."""

from __future__ import annotations

import zlib
from typing import Any

import numpy as np

from . import sizes

SIDE = 64


def usual_shape() -> tuple[int, ...]:
    """Return rows, columns and channels of a picture in a file that was not sent."""
    return sizes.shape_of("pictures", (SIDE, SIDE, 3))


def noise(name: Any, shape: tuple[int, ...]) -> np.ndarray[Any, Any]:
    """Return bytes that depend on nothing but the name."""
    random = np.random.default_rng(zlib.crc32(str(name).encode()))
    return random.integers(0, 256, shape, dtype=np.uint8)
