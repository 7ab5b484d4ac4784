"""Input transforms that sit in front of the glaze surrogate."""

import torch
from torch import Tensor, nn


class PowerWarp(nn.Module):
    """Bends each ingredient axis by an exponent of its own."""

    def __init__(self, width: int) -> None:
        super().__init__()
        self.log_power = nn.Parameter(torch.zeros(width))

    def forward(self, x: Tensor) -> Tensor:
        return x.clamp_min(1e-4) ** self.log_power.exp()


class RangeScaler(nn.Module):
    """Brings every column to [0, 1].

    The bounds are taken from the training inputs; in eval mode the last ones are reused, so that
    candidates land on the same scale as the tiles that were fired.
    """

    def __init__(self, width: int) -> None:
        super().__init__()
        self.register_buffer("low", torch.zeros(width))
        self.register_buffer("span", torch.ones(width))

    def forward(self, x: Tensor) -> Tensor:
        if self.training:
            x = x.detach()
            self.low = x.amin(dim=0)
            self.span = (x.amax(dim=0) - self.low).clamp_min(1e-3)
        return (x - self.low) / self.span
