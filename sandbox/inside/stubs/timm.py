"""timm where it is missing: a small network under every name, with what scripts ask of any; under
those of vision transformers one of blocks, which scripts take apart."""

from __future__ import annotations

from collections import OrderedDict
from types import ModuleType, SimpleNamespace
from typing import Any

import torch
from torch import nn

from .null_object import NullModule
from .torchvision_models import STEM, ResNet

PROVIDES = ("timm",)
SAYS = "not installed here: small networks with random weights"
_PARTS = ("data", "layers", "loss", "models", "optim", "scheduler", "utils")
_FEATURES = 512
_CHANNELS = (16, 24, 32, _FEATURES)  # after the four stages
_TRANSFORMERS = ("vit", "deit", "beit", "eva", "dino")
_WIDTH, _HEADS, _BLOCKS, _PATCH = 48, 4, 2, 8  # of a transformer; a patch is so many pixels wide


class Network(ResNet):
    """Images `(N, in_chans, H, W)` to scores `(N, num_classes)`; to features `(N, 512)` where it
    has no classes, to maps `(N, 512, h, w)` where it does not pool either."""

    def __init__(
        self, num_classes: int = 1000, in_chans: int = 3, global_pool: str = "avg"
    ) -> None:
        super().__init__(max(num_classes, 1), _FEATURES)
        self.num_features = _FEATURES
        self.default_cfg = self.pretrained_cfg = _settings(in_chans)
        if in_chans != 3:
            self.conv1 = nn.Conv2d(in_chans, STEM, 3, stride=2, padding=1, bias=False)
        if not global_pool:
            self.avgpool = nn.Identity()
        self.reset_classifier(num_classes)

    def reset_classifier(self, num_classes: int, global_pool: str | None = None) -> None:
        """Replace or remove the head."""
        self.num_classes = num_classes
        self.fc = nn.Linear(_FEATURES, num_classes) if num_classes else nn.Identity()

    def get_classifier(self) -> nn.Module:
        """Return the head."""
        return self.fc

    def stages(self, images: torch.Tensor) -> list[torch.Tensor]:
        """Return the feature map after each stage."""
        x = self.maxpool(self.relu(self.bn1(self.conv1(images))))
        maps = []
        for n in range(4):
            x = getattr(self, f"layer{n + 1}")(x)
            maps.append(x)
        return maps

    def forward_features(self, images: torch.Tensor) -> torch.Tensor:
        """Return the last feature map."""
        return self.stages(images)[-1]

    def forward_head(self, maps: torch.Tensor, pre_logits: bool = False) -> Any:
        """Return the scores of pooled feature maps."""
        pooled = self.avgpool(maps)
        flat = pooled if isinstance(self.avgpool, nn.Identity) else torch.flatten(pooled, 1)
        return flat if pre_logits else self.fc(flat)

    def forward(self, images: torch.Tensor) -> Any:
        return self.forward_head(self.forward_features(images))


class Pyramid(Network):
    """The feature maps of all stages; `feature_info` describes their channels."""

    def __init__(self, in_chans: int = 3) -> None:
        super().__init__(0, in_chans)
        self.feature_info = SimpleNamespace(
            channels=lambda: [*_CHANNELS], reduction=lambda: [4] * len(_CHANNELS)
        )

    def forward(self, images: torch.Tensor) -> Any:
        return self.stages(images)


class Attention(nn.Module):
    """Tokens `(N, T, 48)` that look at one another."""

    def __init__(self) -> None:
        super().__init__()
        self.num_heads = _HEADS
        self.qkv, self.proj = nn.Linear(_WIDTH, 3 * _WIDTH), nn.Linear(_WIDTH, _WIDTH)

    def forward(self, tokens: torch.Tensor) -> Any:
        n, count, width = tokens.shape
        parts = self.qkv(tokens).reshape(n, count, 3, self.num_heads, -1).permute(2, 0, 3, 1, 4)
        seen = nn.functional.scaled_dot_product_attention(*parts)
        return self.proj(seen.transpose(1, 2).reshape(n, count, width))


class TransformerBlock(nn.Module):
    """A block of a transformer, of parts under their usual names."""

    def __init__(self) -> None:
        super().__init__()
        self.norm1, self.attn, self.norm2 = nn.LayerNorm(_WIDTH), Attention(), nn.LayerNorm(_WIDTH)
        parts = {"fc1": nn.Linear(_WIDTH, 96), "act": nn.GELU(), "fc2": nn.Linear(96, _WIDTH)}
        self.mlp = nn.Sequential(OrderedDict(parts))

    def forward(self, tokens: torch.Tensor) -> Any:
        tokens = tokens + self.attn(self.norm1(tokens))
        return tokens + self.mlp(self.norm2(tokens))


class Transformer(nn.Module):
    """Images of any size, `(N, in_chans, H, W)`, to scores `(N, num_classes)`; where it has no
    classes, to features `(N, 48)`."""

    def __init__(
        self, num_classes: int = 1000, in_chans: int = 3, global_pool: str = "token"
    ) -> None:
        super().__init__()
        self.num_features = self.embed_dim = _WIDTH
        self.global_pool = global_pool
        self.default_cfg = self.pretrained_cfg = _settings(in_chans)
        self.patch_embed = nn.Conv2d(in_chans, _WIDTH, _PATCH, stride=_PATCH)
        self.cls_token = nn.Parameter(torch.zeros(1, 1, _WIDTH))
        self.pos_embed = nn.Parameter(0.02 * torch.randn(1, 1, _WIDTH))
        self.blocks = nn.Sequential(*(TransformerBlock() for _ in range(_BLOCKS)))
        self.norm = nn.LayerNorm(_WIDTH)
        self.reset_classifier(num_classes)

    def reset_classifier(self, num_classes: int, global_pool: str | None = None) -> None:
        """Replace or remove the head."""
        self.num_classes = num_classes
        self.head = nn.Linear(_WIDTH, num_classes) if num_classes else nn.Identity()

    def get_classifier(self) -> nn.Module:
        """Return the head."""
        return self.head

    def forward_features(self, images: torch.Tensor) -> Any:
        """Return all tokens, `(N, 1 + patches, 48)`."""
        patches = self.patch_embed(images).flatten(2).transpose(1, 2)
        tokens = torch.cat([self.cls_token.expand(len(images), -1, -1), patches], dim=1)
        return self.norm(self.blocks(tokens + self.pos_embed))

    def forward_head(self, tokens: torch.Tensor, pre_logits: bool = False) -> Any:
        """Return the scores of one token, or of the mean of the patches' tokens."""
        seen = tokens[:, 0] if self.global_pool == "token" else tokens[:, 1:].mean(1)
        return seen if pre_logits else self.head(seen)

    def forward(self, images: torch.Tensor) -> Any:
        return self.forward_head(self.forward_features(images))


def _settings(in_chans: int) -> dict[str, Any]:
    return {
        "input_size": (in_chans, 224, 224),
        "mean": (0.485, 0.456, 0.406),
        "std": (0.229, 0.224, 0.225),
    }


def create_model(
    name: str,
    pretrained: bool = False,
    num_classes: int = 1000,
    in_chans: int = 3,
    global_pool: str | None = None,
    features_only: bool = False,
    **options: Any,
) -> nn.Module:
    """Return a network under any name."""
    if features_only:
        return Pyramid(in_chans)
    if name.startswith(_TRANSFORMERS):
        return Transformer(num_classes, in_chans, global_pool or "token")
    return Network(num_classes, in_chans, "avg" if global_pool is None else global_pool)


def module(name: str) -> ModuleType:
    """Return `timm`, and its parts."""
    here: dict[str, Any] = {"create_model": create_model}
    if name.endswith("layers"):
        here = {"trunc_normal_": nn.init.trunc_normal_, "DropPath": nn.Dropout}
        here["to_2tuple"] = lambda x: x if isinstance(x, tuple) else (x, x)
    elif name.endswith("loss"):
        here = {"LabelSmoothingCrossEntropy": nn.CrossEntropyLoss}
        here["SoftTargetCrossEntropy"] = nn.CrossEntropyLoss
    return NullModule(name, _PARTS, **here)
