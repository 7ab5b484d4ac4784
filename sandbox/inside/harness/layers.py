"""The shapes that torch's own layers take."""

from __future__ import annotations

import torch
from torch import nn

SIDE, BATCH, LENGTH = 16, 4, 5


def taken_by(module: nn.Module) -> list[int] | None:
    """Return a shape that a module of torch's accepts, or None."""
    match module:
        case nn.Linear():
            return [BATCH, module.in_features]
        case nn.modules.conv._ConvNd():
            dims = len(module.kernel_size)
            side = max(SIDE, 2 * max(int(k) for k in module.kernel_size))
            return [BATCH, module.in_channels, *[side] * dims]
        case nn.BatchNorm1d():
            return [BATCH, module.num_features]
        case nn.modules.batchnorm._BatchNorm():
            dims = 3 if isinstance(module, nn.BatchNorm3d) else 2
            return [BATCH, module.num_features, *[SIDE] * dims]
        case nn.RNNCellBase():
            return [BATCH, module.input_size]
        case nn.RNNBase():
            return (
                [BATCH, LENGTH, module.input_size]
                if module.batch_first
                else [LENGTH, BATCH, module.input_size]
            )
        case nn.LayerNorm():
            return [BATCH, *map(int, module.normalized_shape)]
        case nn.MaxPool2d() | nn.AvgPool2d() | nn.AdaptiveAvgPool2d():
            return [BATCH, 3, SIDE, SIDE]
        case nn.MultiheadAttention():
            return [LENGTH, BATCH, module.embed_dim]
        case nn.TransformerEncoderLayer():
            return [LENGTH, BATCH, module.linear1.in_features]
    return None


def fits(tensor: torch.Tensor, wanted: list[int]) -> bool:
    """Return True if a tensor has the sizes that matter; the first is anything."""
    return tensor.dim() == len(wanted) and list(tensor.shape[1:]) == wanted[1:]
