# expect: pattern = inplace-view
# expect: raises = RuntimeError: Output 1 of Split is a view and is being modified inplace
# expect: carrier = moved
"""Affine coupling layers (RealNVP) that transform one half of the features at a time."""
import math
from typing import List, Tuple

import torch
from torch import Tensor, nn


class AffineCoupling(nn.Module):
    def __init__(self, dim: int, hidden: int, flip: bool):
        super().__init__()
        self.flip = flip
        self.net = nn.Sequential(
            nn.Linear(dim // 2, hidden), nn.LeakyReLU(0.1), nn.Linear(hidden, dim)
        )

    def forward(self, x: Tensor) -> Tuple[Tensor, Tensor]:
        kept, moved = x.chunk(2, dim=-1)  # expect: place
        if self.flip:
            kept, moved = moved, kept
        log_scale, shift = self.net(kept).chunk(2, dim=-1)
        log_scale = 0.5 * torch.tanh(log_scale)
        moved *= log_scale.exp()  # expect: place
        moved += shift  # expect: place
        halves = (moved, kept) if self.flip else (kept, moved)
        return torch.cat(halves, dim=-1), log_scale.sum(-1)


class ActNorm(nn.Module):
    def __init__(self, dim: int):
        super().__init__()
        self.log_scale = nn.Parameter(torch.zeros(dim))
        self.bias = nn.Parameter(torch.zeros(dim))

    def forward(self, x: Tensor) -> Tuple[Tensor, Tensor]:
        return (x + self.bias) * self.log_scale.exp(), self.log_scale.sum().expand(x.shape[0])


class RealNVP(nn.Module):
    def __init__(self, dim: int = 4, hidden: int = 24, depth: int = 3):
        super().__init__()
        layers: List[nn.Module] = []
        for i in range(depth):
            layers += [ActNorm(dim), AffineCoupling(dim, hidden, flip=bool(i % 2))]
        self.layers = nn.ModuleList(layers)

    def log_prob(self, x: Tensor) -> Tensor:
        volume = x.new_zeros(x.shape[0])
        for layer in self.layers:
            x, change = layer(x)
            volume += change
        gauss = -0.5 * (x.square() + math.log(2 * math.pi)).sum(-1)
        return gauss + volume


def moons(n: int) -> Tensor:
    t = math.pi * torch.rand(n)
    side = torch.randint(0, 2, (n,)).float()
    p = torch.stack([t.cos() + side, (1 - 2 * side) * t.sin() + 0.5 * side], 1)
    return torch.cat([p, p.flip(1) * 0.5], 1) + 0.05 * torch.randn(n, 4)


def main() -> None:
    torch.manual_seed(44)
    flow = RealNVP()
    optimizer = torch.optim.Adam(flow.parameters(), lr=3e-3)
    for it in range(10):
        loss = -flow.log_prob(moons(64)).mean()
        optimizer.zero_grad()
        loss.backward()
        optimizer.step()
        if it % 3 == 0:
            print(f"{it:2d}  nll {loss.item():.4f}")


if __name__ == "__main__":
    main()
