"""Whose stroke is it? Force curves of oars, compared with a learnt alignment kernel."""
import argparse
import math

import torch
from torch import nn

ROWERS, PER_ROWER = 6, 8


def strokes(generator, length=10):
    """Peak, lean and a wobble belong to the rower; the rhythm is that of the day."""
    peak = 0.3 + 0.4 * torch.rand(ROWERS, generator=generator)
    lean = 1 + 2 * torch.rand(ROWERS, generator=generator)
    curves, owner = [], []
    for rower in range(ROWERS):
        for _ in range(PER_ROWER):
            warp = 0.7 + 0.6 * torch.rand((), generator=generator)
            t = torch.linspace(0, 1, length) ** warp
            force = torch.exp(-((t - peak[rower]) * 4).abs() ** lean[rower])
            angle = torch.cos(3.1416 * t)
            noise = 0.05 * torch.randn(length, 2, generator=generator)
            curves.append(torch.stack([force, angle], 1) + noise)
            owner.append(rower)
    return torch.stack(curves), torch.tensor(owner)


class AlignmentKernel(nn.Module):
    """Sums over all monotone alignments of two curves, in logarithms."""

    def __init__(self, channels=2, width=6):
        super().__init__()
        self.frames = nn.Sequential(nn.Linear(channels, width), nn.Tanh(), nn.Linear(width, width))
        self.bandwidth = nn.Parameter(torch.tensor(0.0))

    def local(self, a, b):
        squared = torch.cdist(self.frames(a), self.frames(b)).square()
        return -squared * torch.exp(self.bandwidth)

    def forward(self, a, b):
        similar = self.local(a, b)
        count, n, m = similar.shape
        table = similar.new_full((count, n + 1, m + 1), -math.inf)
        table[:, 0, 0] = 0.0
        for i in range(1, n + 1):
            for j in range(1, m + 1):
                corner = table[:, i - 1 : i + 1, j - 1 : j + 1]
                table[:, i, j] = similar[:, i - 1, j - 1] + torch.logsumexp(corner.clone(), (1, 2))
        return table[:, n, m] / (n + m)


def triplets(owner, count):
    anchor = torch.randint(0, len(owner), (count,))
    same = (owner[anchor] * PER_ROWER) + torch.randint(0, PER_ROWER, (count,))
    other = (same + PER_ROWER * torch.randint(1, ROWERS, (count,))) % len(owner)
    return anchor, same, other


@torch.no_grad()
def ranked_right(kernel, curves, owner, count=60):
    a, s, o = triplets(owner, count)
    return (kernel(curves[a], curves[s]) > kernel(curves[a], curves[o])).float().mean().item()


def main():
    parser = argparse.ArgumentParser()
    parser.add_argument("--margin", type=float, default=0.2)
    parser.add_argument("--steps", type=int, default=8)
    parser.add_argument("--batch", type=int, default=24)
    args = parser.parse_args([])
    torch.manual_seed(2)
    curves, owner = strokes(torch.Generator().manual_seed(2))
    kernel = AlignmentKernel()
    opt = torch.optim.RMSprop(kernel.parameters(), lr=0.01)
    for step in range(args.steps):
        a, s, o = triplets(owner, args.batch)
        near, far = kernel(curves[a], curves[s]), kernel(curves[a], curves[o])
        loss = torch.relu(args.margin + far - near).mean()
        opt.zero_grad()
        loss.backward()
        opt.step()
        if step % 4 == 3:
            print(step, f"{loss.item():.4f}", f"{ranked_right(kernel, curves, owner):.2f}")


if __name__ == "__main__":
    main()
