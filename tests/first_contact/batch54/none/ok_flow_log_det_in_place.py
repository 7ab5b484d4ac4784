# expect: pattern = none
# expect: raises = nothing
"""A small affine-coupling flow for joint wave heights and periods at a buoy."""
import math

import torch
import torch.nn as nn

torch.manual_seed(31)


class Coupling(nn.Module):
    def __init__(self, dim, flip, hidden=32):
        super().__init__()
        self.flip, self.half = flip, dim // 2
        self.net = nn.Sequential(nn.Linear(self.half, hidden), nn.Tanh(), nn.Linear(hidden, dim))
        self.reach = nn.Parameter(torch.full((self.half,), 0.5))

    def forward(self, x, log_det):
        a, b = x.chunk(2, dim=1)
        if self.flip:
            a, b = b, a
        shift, raw = self.net(a).chunk(2, dim=1)
        log_scale = self.reach * torch.tanh(raw)
        b = b * log_scale.exp() + shift
        log_det += log_scale.sum(dim=1)
        return torch.cat([b, a] if self.flip else [a, b], dim=1), log_det


class ActNorm(nn.Module):
    """Scale and shift, set from the first batch it sees."""

    def __init__(self, dim):
        super().__init__()
        self.log_s = nn.Parameter(torch.zeros(dim))
        self.bias = nn.Parameter(torch.zeros(dim))
        self.ready = False

    def forward(self, x, log_det):
        if not self.ready:
            with torch.no_grad():
                self.log_s.copy_(-x.std(0).clamp(min=1e-3).log())
                self.bias.copy_(-x.mean(0) * self.log_s.exp())
            self.ready = True
        log_det += self.log_s.sum()
        return x * self.log_s.exp() + self.bias, log_det


class Flow(nn.Module):
    def __init__(self, dim=4, depth=4):
        super().__init__()
        layers = []
        for i in range(depth):
            layers += [ActNorm(dim), Coupling(dim, flip=bool(i % 2))]
        self.layers = nn.ModuleList(layers)

    def log_prob(self, x):
        log_det = torch.zeros(x.shape[0])
        for layer in self.layers:
            x, log_det = layer(x, log_det)
        base = -0.5 * (x ** 2).sum(1) - 0.5 * x.shape[1] * math.log(2 * math.pi)
        return base + log_det


def buoy(n):
    sea = torch.rand(n) < 0.6
    height = torch.where(sea, 0.6 + 0.2 * torch.randn(n), 1.8 + 0.4 * torch.randn(n))
    period = 3 * height.clamp(min=0.05).sqrt() + 0.2 * torch.randn(n)
    wind = 0.7 * height + 0.3 * torch.randn(n)
    swell = torch.sin(period) + 0.1 * torch.randn(n)
    return torch.stack([height, period, wind, swell], dim=1)


data = buoy(600)
flow = Flow()
opt = torch.optim.Adam(flow.parameters(), lr=4e-3)
for epoch in range(8):
    total = 0.0
    for rows in torch.randperm(len(data)).split(100):
        nll = -flow.log_prob(data[rows]).mean()
        opt.zero_grad()
        nll.backward()
        torch.nn.utils.clip_grad_norm_(flow.parameters(), 5.0)
        opt.step()
        total += nll.item() * len(rows)
    print(f"epoch {epoch}  nll {total / len(data):.4f}")
