"""torchvision where it is missing: small synthetic data of the right shapes, real tensors."""

from __future__ import annotations

import importlib
from types import ModuleType
from typing import Any

import torch
from torch import nn
from torch.utils.data import Dataset

from .nothing import NothingModule

PROVIDES = ("torchvision",)
SAMPLES = 256
# dataset → shape of an image, number of classes
SHAPES = {
    "MNIST": ((1, 28, 28), 10),
    "FashionMNIST": ((1, 28, 28), 10),
    "KMNIST": ((1, 28, 28), 10),
    "EMNIST": ((1, 28, 28), 47),
    "USPS": ((1, 16, 16), 10),
    "CIFAR10": ((3, 32, 32), 10),
    "CIFAR100": ((3, 32, 32), 100),
    "SVHN": ((3, 32, 32), 10),
    "STL10": ((3, 96, 96), 10),
    "CelebA": ((3, 64, 64), 40),
    "FakeData": ((3, 224, 224), 10),
    "ImageFolder": ((3, 64, 64), 2),
    "ImageNet": ((3, 64, 64), 1000),
}


class Images(Dataset[Any]):
    """Noise with labels: the same for everyone, drawn from a generator of its own."""

    shape: tuple[int, ...] = (3, 32, 32)
    count = 10

    def __init__(
        self,
        root: Any = None,
        *args: Any,
        transform: Any = None,
        target_transform: Any = None,
        **kwargs: Any,
    ) -> None:
        generator = torch.Generator().manual_seed(0)
        size = (SAMPLES, *self.shape)
        self.data = torch.randint(0, 256, size, generator=generator, dtype=torch.uint8)
        self.targets = torch.randint(0, self.count, (SAMPLES,), generator=generator)
        self.classes = [str(n) for n in range(self.count)]
        self.transform = transform
        self.target_transform = target_transform

    def __len__(self) -> int:
        return SAMPLES

    def __getitem__(self, index: int) -> tuple[Any, Any]:
        image: Any = self.data[index].float() / 255
        target: Any = int(self.targets[index])
        if self.transform is not None:
            image = self.transform(image)
        if self.target_transform is not None:
            target = self.target_transform(target)
        return image, target


class Compose:
    """Applies transforms in order."""

    def __init__(self, transforms: list[Any]) -> None:
        self.transforms = transforms

    def __call__(self, image: Any) -> Any:
        for transform in self.transforms:
            image = transform(image)
        return image


class Keep:
    """A transform whose effect does not matter to a synthetic image."""

    def __init__(self, *args: Any, **kwargs: Any) -> None:
        pass

    def __call__(self, image: Any) -> Any:
        return image


class Normalize:
    """Subtracts a mean and divides by a deviation, by channel."""

    def __init__(self, mean: Any, std: Any, inplace: bool = False) -> None:
        self.mean, self.std = torch.as_tensor(mean), torch.as_tensor(std)

    def __call__(self, image: torch.Tensor) -> torch.Tensor:
        return (image - self.mean.view(-1, 1, 1)) / self.std.view(-1, 1, 1)


class Resize:
    """Scales an image to a size, given as one side or as height and width."""

    def __init__(self, size: Any, *args: Any, **kwargs: Any) -> None:
        self.size = (size, size) if isinstance(size, int) else tuple(size)

    def __call__(self, image: torch.Tensor) -> torch.Tensor:
        return nn.functional.interpolate(image[None], size=self.size)[0]


class Lambda:
    """Calls a function of the script's."""

    def __init__(self, function: Any) -> None:
        self.function = function

    def __call__(self, image: Any) -> Any:
        return self.function(image)


class Grayscale:
    """Averages the channels."""

    def __init__(self, num_output_channels: int = 1) -> None:
        self.channels = num_output_channels

    def __call__(self, image: torch.Tensor) -> torch.Tensor:
        return image.mean(0, keepdim=True).expand(self.channels, -1, -1)


class SmallNet(nn.Module):
    """A small convolutional network with the heads' names of the well-known ones."""

    def __init__(self, classes: int = 1000) -> None:
        super().__init__()
        self.conv1 = nn.Conv2d(3, 16, 3, stride=2, padding=1)
        self.bn1 = nn.BatchNorm2d(16)
        self.avgpool = nn.AdaptiveAvgPool2d(1)
        self.fc = nn.Linear(16, classes)

    def forward(self, images: torch.Tensor) -> Any:
        features = self.avgpool(torch.relu(self.bn1(self.conv1(images)))).flatten(1)
        return self.fc(features)


def model(*args: Any, num_classes: int = 1000, **kwargs: Any) -> nn.Module:
    """A network that takes images and gives scores of classes."""
    return SmallNet(num_classes)


class Package(NothingModule):
    """`torchvision` itself: its parts are imported as they are named."""

    def __getattr__(self, name: str) -> Any:
        if name in ("datasets", "models", "transforms"):
            return importlib.import_module(f"{self.__name__}.{name}")
        return super().__getattr__(name)


class Transforms(NothingModule):
    """`torchvision.transforms`: what changes shapes is real, the rest keeps the image."""

    def __getattr__(self, name: str) -> Any:
        return Keep if name[:1].isupper() else super().__getattr__(name)


class Models(NothingModule):
    """`torchvision.models`: every constructor gives the small network."""

    def __getattr__(self, name: str) -> Any:
        return model if name[:1].islower() else super().__getattr__(name)


def module(name: str) -> ModuleType:
    """`torchvision`, or a part of it."""
    part = name.split(".")[1] if "." in name else ""
    if part == "datasets":
        kinds = {n: type(n, (Images,), {"shape": s, "count": c}) for n, (s, c) in SHAPES.items()}
        return NothingModule(name, **kinds)
    if part == "transforms":
        real = (Compose, Normalize, Resize, Lambda, Grayscale)
        return Transforms(name, **{kind.__name__: kind for kind in real})
    if part == "models":
        return Models(name)
    return Package(name)
