"""torchvision where it is missing: small synthetic data, models of the right make, real tensors."""

from __future__ import annotations

from types import ModuleType
from typing import Any

import torch

from .null_object import NullModule
from .torchvision_data import SHAPES, dataset
from .torchvision_models import MODELS, classifier
from .torchvision_transforms import FUNCTIONS, TRANSFORMS, Keep

PROVIDES = ("torchvision",)
SAYS = "not installed here: small synthetic data and models"
_PARTS = ("datasets", "io", "models", "ops", "transforms", "utils")


class Transforms(NullModule):
    """`torchvision.transforms`: what changes shapes is real, the rest keeps the image."""

    def __getattr__(self, name: str) -> Any:
        known = name in self._parts or not name[:1].isupper()
        return super().__getattr__(name) if known else Keep


class Models(NullModule):
    """`torchvision.models`: constructors by name, here and in `__dict__`."""

    def __getattr__(self, name: str) -> Any:
        if name.endswith("_Weights"):
            return super().__getattr__(name)
        if name[:1].islower():
            return lambda *args, **kwargs: classifier(name, *args, **kwargs)
        return super().__getattr__(name)


class Datasets(NullModule):
    """`torchvision.datasets`: those of which nothing is known are small ones, too."""

    def __getattr__(self, name: str) -> Any:
        return dataset(name) if name[:1].isupper() else super().__getattr__(name)


def same(images: Any, *args: Any, **kwargs: Any) -> Any:
    """Return the image unchanged."""
    return images


@torch.no_grad()
def make_grid(tensor: Any, nrow: int = 8, padding: int = 2, **kwargs: Any) -> torch.Tensor:
    """Return images side by side in one."""
    images = torch.stack(list(tensor)) if isinstance(tensor, list | tuple) else tensor
    while images.dim() < 4:
        images = images[None]
    columns = min(nrow, len(images))
    rows = -(-len(images) // columns)
    height, width = images.shape[2] + padding, images.shape[3] + padding
    size = (max(images.shape[1], 3), height * rows + padding, width * columns + padding)
    grid = images.new_full(size, 0.0)
    for n, image in enumerate(images):
        top, left = n // columns * height + padding, n % columns * width + padding
        grid[:, top : top + images.shape[2], left : left + images.shape[3]] = image
    return grid


def read_image(*args: Any, **kwargs: Any) -> torch.Tensor:
    """Return noise in bytes."""
    generator = torch.Generator().manual_seed(0)
    return torch.randint(0, 256, (3, 64, 64), generator=generator, dtype=torch.uint8)


def module(name: str) -> ModuleType:
    """Return `torchvision`, or a part of it."""
    part = name.partition(".")[2]
    if part.startswith("datasets"):
        return Datasets(name, default_loader=same, **{kind: dataset(kind) for kind in SHAPES})
    if part.startswith("transforms"):
        named = FUNCTIONS if part.endswith("functional") else TRANSFORMS
        return Transforms(name, ("functional", "v2"), **named)
    if part.startswith("models"):
        return Models(name, **MODELS)
    if part.startswith("utils"):
        return NullModule(name, make_grid=make_grid)
    if part.startswith("io"):
        return NullModule(name, read_image=read_image)
    return NullModule(name, () if part else _PARTS)
