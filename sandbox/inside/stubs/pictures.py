"""Pillow: pictures of noise, of the sizes that scripts ask for."""

from __future__ import annotations

import zlib
from types import ModuleType
from typing import Any

import numpy as np

from . import sizes
from .null_object import NullModule

PROVIDES = ("PIL",)
SAYS = "not installed here: pictures are noise"
SIDE = 64
_PARTS = ("Image", "ImageDraw", "ImageEnhance", "ImageFile", "ImageFilter", "ImageFont", "ImageOps")


class Image:
    """A picture: rows, columns and, but for grey ones, three channels of bytes."""

    def __init__(self, pixels: np.ndarray[Any, Any] | None = None, mode: str = "RGB") -> None:
        self._pixels = (
            noise("", (SIDE, SIDE, 3)) if pixels is None else np.ascontiguousarray(pixels)
        )
        self.mode = "L" if self._pixels.ndim == 2 else mode
        self.filename = ""
        self.info: dict[str, Any] = {}

    @property
    def size(self) -> tuple[int, int]:
        """Return width and height."""
        return self._pixels.shape[1], self._pixels.shape[0]

    @property
    def width(self) -> int:
        return self.size[0]

    @property
    def height(self) -> int:
        return self.size[1]

    @property
    def __array_interface__(self) -> Any:
        return self._pixels.__array_interface__

    def convert(self, mode: str = "RGB", *args: Any, **kwargs: Any) -> Image:
        """Return the picture as grey (`L`, `1`, `P`) or with three channels."""
        grey = self._pixels if self._pixels.ndim == 2 else self._pixels[..., 0]
        if mode in ("L", "1", "P", "I", "F"):
            return Image(grey)
        channels = 4 if mode == "RGBA" else 3
        return Image(np.repeat(grey[..., None], channels, 2), mode)

    def resize(self, size: Any, *args: Any, **kwargs: Any) -> Image:
        """Return the nearest pixels."""
        width, height = size
        rows = np.arange(height) * self.height // height
        columns = np.arange(width) * self.width // width
        return Image(self._pixels[rows][:, columns], self.mode)

    def crop(self, box: Any = None) -> Image:
        """Return the part within left, upper, right and lower; black outside of the picture."""
        left, upper, right, lower = (int(edge) for edge in box or (0, 0, *self.size))
        part = np.zeros((lower - upper, right - left, *self._pixels.shape[2:]), np.uint8)
        inner = self._pixels[max(upper, 0) : lower, max(left, 0) : right]
        top, side = max(-upper, 0), max(-left, 0)
        part[top : top + inner.shape[0], side : side + inner.shape[1]] = inner
        return Image(part, self.mode)

    def transpose(self, method: Any = 0) -> Image:
        return Image(self._pixels[:, ::-1], self.mode)

    def split(self) -> tuple[Image, ...]:
        """Return a grey picture for each channel."""
        if self._pixels.ndim == 2:
            return (self,)
        return tuple(Image(self._pixels[..., n]) for n in range(self._pixels.shape[2]))

    def getbands(self) -> tuple[str, ...]:
        return tuple(self.mode)

    def getdata(self) -> Any:
        return self._pixels.reshape(-1, *self._pixels.shape[2:])

    def tobytes(self) -> bytes:
        return self._pixels.tobytes()

    def getpixel(self, place: Any) -> Any:
        return self._pixels[place[1], place[0]]

    def load(self) -> Image:
        return self

    def copy(self) -> Image:
        return Image(self._pixels.copy(), self.mode)

    def rotate(self, *args: Any, **kwargs: Any) -> Image:
        return self

    filter = rotate

    def thumbnail(self, size: Any, *args: Any, **kwargs: Any) -> None:
        self._pixels = self.resize(size)._pixels

    def save(self, *args: Any, **kwargs: Any) -> None:
        pass

    show = paste = close = save

    def __enter__(self) -> Image:
        return self

    def __exit__(self, *error: object) -> None:
        pass


def usual_shape() -> tuple[int, ...]:
    """Return rows, columns and channels of a picture in a file that was not sent."""
    return sizes.shape_of("pictures", (SIDE, SIDE, 3))


def noise(name: Any, shape: tuple[int, ...]) -> np.ndarray[Any, Any]:
    """Return bytes that depend on nothing but the name."""
    random = np.random.default_rng(zlib.crc32(str(name).encode()))
    return random.integers(0, 256, shape, dtype=np.uint8)


def opened(file: Any, *args: Any, **kwargs: Any) -> Image:
    """Imitate `Image.open`: return noise that depends on the name."""
    picture = Image(noise(file, usual_shape()))
    picture.filename = str(file)
    return picture


def new(mode: str, size: Any, color: Any = 0) -> Image:
    """Return a black picture."""
    shape = (size[1], size[0]) if mode in ("L", "1", "P") else (size[1], size[0], 3)
    return Image(np.zeros(shape, np.uint8), mode)


def fromarray(pixels: Any, mode: str | None = None) -> Image:
    """Return the array as a picture."""
    return Image(np.asarray(pixels).astype(np.uint8))


def module(name: str) -> ModuleType:
    """Return `PIL`, `PIL.Image`, …"""
    if name == "PIL":
        return NullModule(name, _PARTS)
    named = {"Image": Image, "open": opened, "new": new, "fromarray": fromarray}
    return NullModule(name, **(named if name == "PIL.Image" else {}))
