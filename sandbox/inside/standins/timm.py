"""timm where it is missing: one small network under every name, with what scripts ask of any."""

from __future__ import annotations

from types import ModuleType, SimpleNamespace
from typing import Any

import torch
from torch import nn

from .nothing import NothingModule
from .torchvision_models import ResNet

PROVIDES = ("timm",)
SAYS = "not installed here: small networks with random weights"
_PARTS = ("data", "layers", "loss", "models", "optim", "scheduler", "utils")
_FEATURES = 512
_CHANNELS = (16, 24, 32, _FEATURES)  # behind the four stages


class Network(ResNet):
    """Images `(N, in_chans, H, W)` to scores `(N, num_classes)`; to features `(N, 512)` where it
    has no classes, to maps `(N, 512, h, w)` where it does not pool either."""

    def __init__(
        self, num_classes: int = 1000, in_chans: int = 3, global_pool: str = "avg"
    ) -> None:
        super().__init__(max(num_classes, 1), _FEATURES)
        self.num_features = _FEATURES
        self.default_cfg = self.pretrained_cfg = {
            "input_size": (in_chans, 224, 224),
            "mean": (0.485, 0.456, 0.406),
            "std": (0.229, 0.224, 0.225),
        }
        if in_chans != 3:
            self.conv1 = nn.Conv2d(in_chans, 16, 3, stride=2, padding=1, bias=False)
        if not global_pool:
            self.avgpool = nn.Identity()
        self.reset_classifier(num_classes)

    def reset_classifier(self, num_classes: int, global_pool: str | None = None) -> None:
        """Another head, or none."""
        self.num_classes = num_classes
        self.fc = nn.Linear(_FEATURES, num_classes) if num_classes else nn.Identity()

    def get_classifier(self) -> nn.Module:
        """The head."""
        return self.fc

    def stages(self, images: torch.Tensor) -> list[torch.Tensor]:
        """The map behind each stage."""
        x = self.maxpool(self.relu(self.bn1(self.conv1(images))))
        maps = []
        for n in range(4):
            x = getattr(self, f"layer{n + 1}")(x)
            maps.append(x)
        return maps

    def forward_features(self, images: torch.Tensor) -> torch.Tensor:
        """The last map."""
        return self.stages(images)[-1]

    def forward_head(self, maps: torch.Tensor, pre_logits: bool = False) -> Any:
        """Pooled, and scored."""
        pooled = self.avgpool(maps)
        flat = pooled if isinstance(self.avgpool, nn.Identity) else torch.flatten(pooled, 1)
        return flat if pre_logits else self.fc(flat)

    def forward(self, images: torch.Tensor) -> Any:
        return self.forward_head(self.forward_features(images))


class Pyramid(Network):
    """The maps of all stages; `feature_info` tells their channels."""

    def __init__(self, in_chans: int = 3) -> None:
        super().__init__(0, in_chans)
        self.feature_info = SimpleNamespace(
            channels=lambda: [*_CHANNELS], reduction=lambda: [4] * len(_CHANNELS)
        )

    def forward(self, images: torch.Tensor) -> Any:
        return self.stages(images)


def create_model(
    name: str,
    pretrained: bool = False,
    num_classes: int = 1000,
    in_chans: int = 3,
    global_pool: str = "avg",
    features_only: bool = False,
    **options: Any,
) -> Network:
    """A network under any name."""
    if features_only:
        return Pyramid(in_chans)
    return Network(num_classes, in_chans, global_pool)


def module(name: str) -> ModuleType:
    """`timm`, and its parts."""
    here: dict[str, Any] = {"create_model": create_model}
    if name.endswith("layers"):
        here = {"trunc_normal_": nn.init.trunc_normal_, "DropPath": nn.Dropout}
        here["to_2tuple"] = lambda x: x if isinstance(x, tuple) else (x, x)
    elif name.endswith("loss"):
        here = {"LabelSmoothingCrossEntropy": nn.CrossEntropyLoss}
        here["SoftTargetCrossEntropy"] = nn.CrossEntropyLoss
    return NothingModule(name, _PARTS, **here)
