import torch
from torch import nn
from torch.nn import functional as F


class WrapConv(nn.Module):
    """Circular in longitude, replicated at the poles."""

    def __init__(self, c_in: int, c_out: int):
        super().__init__()
        self.conv = nn.Conv2d(c_in, c_out, 3)

    def forward(self, x):
        x = F.pad(x, (1, 1, 0, 0), mode="circular")
        return self.conv(F.pad(x, (0, 0, 1, 1), mode="replicate"))


class SixHourStep(nn.Module):
    def __init__(self, channels: int, width: int = 16):
        super().__init__()
        self.up = WrapConv(channels, width)
        self.down = WrapConv(width, channels)

    def forward(self, fields: torch.Tensor) -> torch.Tensor:
        return fields + self.down(F.gelu(self.up(fields)))
