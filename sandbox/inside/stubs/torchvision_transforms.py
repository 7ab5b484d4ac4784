"""Transforms of images that are tensors, arrays or pictures; colours do not matter to noise."""

from __future__ import annotations

from collections.abc import Callable
from enum import Enum
from typing import Any

import numpy as np
import torch
from torch import nn


def to_tensor(image: Any) -> Any:
    """Return channels, rows, columns, up to one; a tensor stays as it is."""
    if isinstance(image, torch.Tensor):
        return image
    pixels = np.array(image)
    tensor = torch.from_numpy(pixels)
    tensor = tensor[None] if tensor.dim() == 2 else tensor.permute(2, 0, 1).contiguous()
    return tensor.float() / 255 if tensor.dtype is torch.uint8 else tensor


def normalize(image: Any, mean: Any, std: Any, inplace: bool = False) -> Any:
    """Subtract a mean and divide by a deviation, by channel."""
    mean, std = (torch.as_tensor(given, dtype=image.dtype) for given in (mean, std))
    return (image - mean.view(-1, 1, 1)) / std.view(-1, 1, 1)


def resize(image: Any, size: Any, *args: Any, **kwargs: Any) -> Any:
    """Scale to a height and a width; one number is that of the shorter side."""
    image = to_tensor(image)
    height, width = image.shape[-2:]
    if isinstance(size, int):
        scale = size / min(height, width)
        size = (round(height * scale), round(width * scale))
    elif len(size) == 1:
        return resize(image, size[0])
    batch = image if image.dim() == 4 else image[None]
    scaled = nn.functional.interpolate(batch.float(), size=tuple(size)).to(image.dtype)
    return scaled if image.dim() == 4 else scaled[0]


def crop(image: Any, size: Any, *args: Any, **kwargs: Any) -> Any:
    """Return the part of this size in the middle; what is smaller is scaled."""
    image = to_tensor(image)
    height, width = (size, size) if isinstance(size, int) else tuple(size)
    if image.shape[-2] < height or image.shape[-1] < width:
        return resize(image, (height, width))
    top, left = (image.shape[-2] - height) // 2, (image.shape[-1] - width) // 2
    return image[..., top : top + height, left : left + width]


def exactly(image: Any, size: Any, *args: Any, **kwargs: Any) -> Any:
    """Scale to this size, one number being both sides."""
    return resize(image, (size, size) if isinstance(size, int) else size)


def pad(image: Any, padding: Any, *args: Any, **kwargs: Any) -> Any:
    """Add zeros around: one number, two (sides, above and below), or four."""
    sides = [padding] * 4 if isinstance(padding, int) else list(padding)
    sides = sides * 2 if len(sides) == 2 else sides
    left, top, right, bottom = sides
    return nn.functional.pad(to_tensor(image), (left, right, top, bottom))


def grey(image: Any, num_output_channels: int = 1, *args: Any, **kwargs: Any) -> Any:
    """Return the channels' mean."""
    return to_tensor(image).mean(0, keepdim=True).expand(num_output_channels, -1, -1)


def same(image: Any, *args: Any, **kwargs: Any) -> Any:
    """Return the image unchanged."""
    return image


class Compose:
    """Applies transforms in order."""

    def __init__(self, transforms: Any) -> None:
        self.transforms = list(transforms)

    def __call__(self, image: Any, *more: Any) -> Any:
        for transform in self.transforms:
            image = transform(image)
        return (image, *more) if more else image


class Keep:
    """A transform whose effect does not matter to a synthetic image."""

    def __init__(self, *args: Any, **kwargs: Any) -> None:
        pass

    def __call__(self, image: Any, *more: Any) -> Any:
        return (image, *more) if more else image


class Lambda:
    """Calls a function of the script's."""

    def __init__(self, function: Any) -> None:
        self.function = function

    def __call__(self, image: Any) -> Any:
        return self.function(image)


class ToTensor(Keep):
    """Pictures and arrays as tensors."""

    def __call__(self, image: Any, *more: Any) -> Any:
        return to_tensor(image)


def _transform(name: str, function: Callable[..., Any]) -> type:
    """Return the class that applies a function with its constructor's arguments."""

    def init(self: Any, *args: Any, **kwargs: Any) -> None:
        self.args, self.kwargs = args, kwargs
        self.size = args[0] if args else kwargs.get("size")

    def call(self: Any, image: Any, *more: Any) -> Any:
        return function(image, *self.args, **self.kwargs)

    return type(name, (), {"__init__": init, "__call__": call, "__doc__": function.__doc__})


class InterpolationMode(Enum):
    """How pixels between pixels are computed, which does not matter to noise."""

    NEAREST = "nearest"
    NEAREST_EXACT = "nearest-exact"
    BILINEAR = "bilinear"
    BICUBIC = "bicubic"
    BOX = "box"
    HAMMING = "hamming"
    LANCZOS = "lanczos"


TRANSFORMS: dict[str, Any] = {
    "InterpolationMode": InterpolationMode,
    "Compose": Compose,
    "Lambda": Lambda,
    "ToTensor": ToTensor,
    "Normalize": _transform("Normalize", normalize),
    "Resize": _transform("Resize", resize),
    "Scale": _transform("Scale", resize),
    "Pad": _transform("Pad", pad),
    "Grayscale": _transform("Grayscale", grey),
    "CenterCrop": _transform("CenterCrop", crop),
    "RandomResizedCrop": _transform("RandomResizedCrop", exactly),
    "RandomSizedCrop": _transform("RandomSizedCrop", exactly),
    "RandomCrop": _transform("RandomCrop", lambda image, size, *a, **k: crop(image, size)),
}
FUNCTIONS: dict[str, Any] = {
    "InterpolationMode": InterpolationMode,
    "to_tensor": to_tensor,
    "pil_to_tensor": to_tensor,
    "normalize": normalize,
    "resize": resize,
    "center_crop": crop,
    "pad": pad,
    "rgb_to_grayscale": grey,
    "crop": lambda image, top, left, height, width: to_tensor(image)[
        ..., top : top + height, left : left + width
    ],
    **dict.fromkeys(("hflip", "vflip", "rotate", "to_pil_image", "adjust_brightness"), same),
}
