# expect: pattern = none
"""Lichen species from colour histograms with sharpness-aware minimisation, written out:
climb to the worst point nearby, take the gradient there, come back, step."""
import torch
from torch import nn
import torch.nn.functional as F


class Sharpness:
    def __init__(self, params, base, rho=0.05):
        self.params = list(params)
        self.base = base
        self.rho = rho
        self.offset = {}

    @torch.no_grad()
    def climb(self):
        norm = torch.stack([p.grad.norm() for p in self.params]).norm() + 1e-12
        for p in self.params:
            self.offset[p] = p.grad * (self.rho / norm)
            p.add_(self.offset[p])
        self.base.zero_grad()

    @torch.no_grad()
    def descend(self):
        for p in self.params:
            p.sub_(self.offset.pop(p))
        self.base.step()
        self.base.zero_grad()


class Histogrammer(nn.Module):
    def __init__(self, bins, species):
        super().__init__()
        self.a = nn.Linear(bins, 32)
        self.b = nn.Linear(32, 32)
        self.c = nn.Linear(32, species)

    def forward(self, h):
        h = F.relu(self.a(h), inplace=True)
        h = h + F.relu(self.b(h), inplace=True)
        h += 0.1
        return self.c(h)


def rocks(n, bins, species, generator):
    kind = torch.randint(0, species, (n,), generator=generator)
    peak = (kind.float()[:, None] + 1) / (species + 1)
    grid = torch.linspace(0, 1, bins)
    h = torch.exp(-60 * (grid - peak) ** 2) + 0.4 * torch.rand(n, bins, generator=generator)
    h /= h.sum(1, keepdim=True)
    return h, kind


def train(steps=30):
    torch.manual_seed(52)
    gen = torch.Generator().manual_seed(53)
    net = Histogrammer(16, 4)
    sgd = torch.optim.SGD(net.parameters(), lr=0.3, momentum=0.9)
    sam = Sharpness(net.parameters(), sgd)
    for s in range(steps):
        h, kind = rocks(48, 16, 4, gen)
        flat = F.cross_entropy(net(h), kind)
        flat.backward()
        sam.climb()
        steep = F.cross_entropy(net(h), kind)
        steep.backward()
        sam.descend()
        if s % 10 == 9:
            print(f"{s + 1}: here {flat.item():.4f}, uphill {steep.item():.4f}")


train()
