"""Networks with the parts of the well-known ones, by which scripts change them; but narrow."""

from __future__ import annotations

from collections.abc import Callable
from functools import partial
from typing import Any

import torch
from torch import nn

from .null_object import nothing

_VGG = {
    "vgg11": "64 M 128 M 256 256 M 512 512 M 512 512 M",
    "vgg13": "64 64 M 128 128 M 256 256 M 512 512 M 512 512 M",
    "vgg16": "64 64 M 128 128 M 256 256 256 M 512 512 512 M 512 512 512 M",
    "vgg19": "64 64 M 128 128 M 256 256 256 256 M 512 512 512 512 M 512 512 512 512 M",
}
_WIDTHS = {  # of what a head takes
    "convnext_tiny": 768,
    "densenet121": 1024,
    "densenet161": 2208,
    "densenet169": 1664,
    "densenet201": 1920,
    "efficientnet_b0": 1280,
    "efficientnet_b1": 1280,
    "mnasnet": 1280,
    "mobilenet_v2": 1280,
}
STEM = 64  # channels of a ResNet's first layer, which scripts replace by one for other images
_NARROW = 8  # channels of a real VGG's layer for one here


class ResNet(nn.Module):
    """Stem, four stages, pooling and a head, under their usual names."""

    def __init__(self, classes: int = 1000, features: int = 512) -> None:
        super().__init__()
        self.conv1 = nn.Conv2d(3, STEM, 3, stride=2, padding=1, bias=False)
        self.bn1 = nn.BatchNorm2d(STEM)
        self.relu = nn.ReLU(inplace=True)
        self.maxpool = nn.MaxPool2d(3, stride=2, padding=1)
        widths = [STEM, 16, 24, 32, features]
        for n in range(4):
            stage = nn.Sequential(
                nn.Conv2d(widths[n], widths[n + 1], 1 if n == 3 else 3, padding=0 if n == 3 else 1),
                nn.BatchNorm2d(widths[n + 1]),
                nn.ReLU(inplace=True),
            )
            setattr(self, f"layer{n + 1}", stage)
        self.avgpool: nn.Module = nn.AdaptiveAvgPool2d((1, 1))
        self.fc: nn.Module = nn.Linear(features, classes)

    def forward(self, images: torch.Tensor) -> Any:
        x = self.maxpool(self.relu(self.bn1(self.conv1(images))))
        for n in range(4):
            x = getattr(self, f"layer{n + 1}")(x)
        return self.fc(torch.flatten(self.avgpool(x), 1))


class Plain(nn.Module):
    """`features`, pooling and a `classifier`."""

    def __init__(self, features: nn.Module, side: int, head: list[nn.Module]) -> None:
        super().__init__()
        self.features = features
        self.avgpool = nn.AdaptiveAvgPool2d((side, side))
        self.classifier = nn.Sequential(*head) if len(head) > 1 else head[0]

    def forward(self, images: torch.Tensor) -> Any:
        return self.classifier(torch.flatten(self.avgpool(self.features(images)), 1))


def vgg(name: str, classes: int = 1000) -> Plain:
    """Return the layers of a VGG in their places, narrow; a head of seven."""
    layers: list[nn.Module] = []
    width = 3
    for word in _VGG[name.removesuffix("_bn")].split():
        if word == "M":
            layers.append(nn.MaxPool2d(2, 2, ceil_mode=True))
            continue
        layers.append(nn.Conv2d(width, int(word) // _NARROW, 3, padding=1))
        width = int(word) // _NARROW
        layers += [nn.BatchNorm2d(width)] if name.endswith("_bn") else []
        layers.append(nn.ReLU(inplace=True))
    head = [*_dense(width, 64), *_dense(64, 4096), nn.Linear(4096, classes)]
    return Plain(nn.Sequential(*layers), 1, head)


def _dense(inputs: int, outputs: int) -> list[nn.Module]:
    return [nn.Linear(inputs, outputs), nn.ReLU(inplace=True), nn.Dropout()]


def small(name: str, classes: int = 1000) -> Plain:
    """Return a network with `features` and a `classifier` with the real one's number of inputs."""
    width = next((n for known, n in _WIDTHS.items() if name.startswith(known)), 32)
    features = nn.Sequential(
        nn.Conv2d(3, 16, 3, stride=2, padding=1),
        nn.BatchNorm2d(16),
        nn.ReLU(inplace=True),
        nn.Conv2d(16, width, 1, stride=2),
        nn.ReLU(inplace=True),
    )
    dropped = [] if name.startswith("densenet") else [nn.Dropout()]
    return Plain(features, 1, [*dropped, nn.Linear(width, classes)])


class Segmenter(nn.Module):
    """Scores for every pixel, under `out`."""

    def __init__(self, classes: int = 21) -> None:
        super().__init__()
        self.backbone = nn.Conv2d(3, 16, 3, padding=1)
        self.classifier = nn.Conv2d(16, classes, 1)

    def forward(self, images: torch.Tensor) -> dict[str, Any]:
        return {"out": self.classifier(torch.relu(self.backbone(images)))}


_WITH_FEATURES = (
    "alexnet",
    "convnext",
    "densenet",
    "efficientnet",
    "mnasnet",
    "mobilenet",
    "squeeze",
)


def classifier(name: str, *args: Any, num_classes: int = 1000, **kwargs: Any) -> Any:
    """Return a network of this name's kind; for an unknown name, the most usual one."""
    if name.removesuffix("_bn") in _VGG:
        return vgg(name, num_classes)
    if name.startswith(("deeplab", "fcn", "lraspp")):
        return Segmenter(num_classes)
    if "rcnn" in name or "retinanet" in name or name.startswith("get_"):
        return nothing("torchvision")
    if name.startswith(_WITH_FEATURES):
        return small(name, num_classes)
    return ResNet(num_classes, 512 if name in ("resnet18", "resnet34") else 2048)


_NAMES = (
    *("resnet18", "resnet34", "resnet50", "resnet101", "resnet152", "resnext50_32x4d"),
    *("wide_resnet50_2", "googlenet", "inception_v3", "shufflenet_v2_x1_0", *_VGG),
    *(f"{name}_bn" for name in _VGG),
    *("alexnet", "densenet121", "densenet161", "densenet169", "densenet201", "mobilenet_v2"),
    *("mobilenet_v3_small", "mobilenet_v3_large", "squeezenet1_0", "squeezenet1_1", "mnasnet1_0"),
    *("efficientnet_b0", "efficientnet_b1", "convnext_tiny"),
)
MODELS: dict[str, Callable[..., Any]] = {name: partial(classifier, name) for name in _NAMES}
