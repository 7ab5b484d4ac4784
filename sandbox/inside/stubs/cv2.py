"""OpenCV and imageio: pictures of noise as arrays."""

from __future__ import annotations

from types import ModuleType
from typing import Any

import numpy as np

from .null_object import NullModule, NullObject
from .pictures import SIDE, noise

PROVIDES = ("cv2", "imageio", "skimage")
SAYS = "not installed here: pictures are noise"
FRAMES = 12


def read(name: Any = "", flag: Any = 1, *args: Any, **kwargs: Any) -> Any:
    """Return noise that depends on the name: rows, columns, channels; grey if asked so."""
    return noise(name, (SIDE, SIDE) if flag == 0 else (SIDE, SIDE, 3))


def resize(image: Any, size: Any = None, *args: Any, **kwargs: Any) -> Any:
    """Return the nearest pixels; `size` is width and height."""
    image = np.asarray(image)
    width, height = size or kwargs.get("dsize") or (SIDE, SIDE)
    rows = np.arange(height) * image.shape[0] // height
    return image[rows][:, np.arange(width) * image.shape[1] // width]


def converted(image: Any, code: Any, *args: Any, **kwargs: Any) -> Any:
    """Return another order of channels, or grey."""
    image = np.asarray(image)
    if "2GRAY" in str(code):
        return image[..., 0]
    return image if image.ndim == 3 else np.repeat(image[..., None], 3, 2)


def same(image: Any = None, *args: Any, **kwargs: Any) -> Any:
    """Return the picture unchanged."""
    return image


class Video(NullObject):
    """A few frames of noise."""

    def __init__(self, *args: Any, **kwargs: Any) -> None:
        self._read = 0

    def isOpened(self) -> bool:  # noqa: N802 (OpenCV's name)
        return self._read < FRAMES

    def read(self) -> tuple[bool, Any]:
        self._read += 1
        return (True, read(self._read)) if self._read <= FRAMES else (False, None)

    def get(self, what: Any) -> int:
        return FRAMES


class Vision(NullModule):
    """`cv2`: constants are their own names, filters change nothing."""

    def __getattr__(self, name: str) -> Any:
        if name.isupper() and not name.startswith("__"):
            return 0 if name == "IMREAD_GRAYSCALE" else name
        return same if name[:1].islower() else super().__getattr__(name)


def module(name: str) -> ModuleType:
    """Return `cv2`, `imageio.v2`, `skimage.io`, …"""
    if name.startswith("cv2"):
        return Vision(
            name, imread=read, imdecode=read, resize=resize, cvtColor=converted, VideoCapture=Video
        )
    given = {"imread": read, "resize": skimage_resize}
    return NullModule(name, **given)


def skimage_resize(image: Any, shape: Any, *args: Any, **kwargs: Any) -> Any:
    """Imitate `skimage.transform.resize`: rows and columns, values up to one."""
    return resize(image, (shape[1], shape[0])) / 255.0
