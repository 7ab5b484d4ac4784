import torch
from torch import nn


class PreNorm(nn.Module):
    """Normalise, apply, add: around any layer that keeps the width."""

    def __init__(self, width, inner):
        super().__init__()
        self.norm = nn.LayerNorm(width)
        self.inner = inner

    def forward(self, hidden, **extra):
        return hidden + self.inner(
            self.norm(hidden), **{name: value.detach() for name, value in extra.items()}
        )


class Modulated(nn.Module):
    def __init__(self, width, context_width):
        super().__init__()
        self.spread = nn.Linear(width, 2 * width)
        self.gather = nn.Linear(2 * width, width)
        self.scale = nn.Linear(context_width, 2 * width)
        self.shift = nn.Linear(context_width, 2 * width)

    def forward(self, hidden, context=None):
        wide = self.spread(hidden)
        if context is not None:
            wide = wide * (1 + self.scale(context)) + self.shift(context)
        return self.gather(torch.relu(wide))
