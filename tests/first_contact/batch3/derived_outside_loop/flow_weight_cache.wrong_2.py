"""Normalising flow with invertible linear layers; the dense weight is assembled from its LU parts."""
import math

import torch
from torch import nn


class Cached:
    """Mixin: values that are costly to assemble are kept until `invalidate` is called."""

    def cached(self, name, build):
        store = self.__dict__.setdefault("_store", {})
        if name not in store:
            store[name] = build()
        return store[name]

    def invalidate(self):
        self.__dict__.pop("_store", None)


class LULinear(Cached, nn.Module):
    def __init__(self, dim):
        super().__init__()
        self.lower = nn.Parameter(0.1 * torch.randn(dim, dim))
        self.upper = nn.Parameter(0.1 * torch.randn(dim, dim))
        self.log_diag = nn.Parameter(torch.zeros(dim))

    def assemble(self):
        l = torch.tril(self.lower, -1) + torch.eye(len(self.log_diag))
        u = torch.triu(self.upper, 1) + torch.diag(self.log_diag.exp())
        return l @ u

    def forward(self, x):
        w = self.cached("weight", self.assemble)
        return x @ w.t(), self.log_diag.sum().expand(len(x))


class Coupling(nn.Module):
    def __init__(self, dim, width=24):
        super().__init__()
        self.half = dim // 2
        self.net = nn.Sequential(nn.Linear(self.half, width), nn.ReLU(), nn.Linear(width, 2 * (dim - self.half)))

    def forward(self, x):
        a, b = x[:, :self.half], x[:, self.half:]
        s, t = self.net(a).chunk(2, 1)
        s = torch.tanh(s)
        return torch.cat([a, b * s.exp() + t], 1), s.sum(1)


class Flow(nn.Module):
    def __init__(self, dim, depth=2):
        super().__init__()
        self.parts = nn.ModuleList(m for _ in range(depth) for m in (LULinear(dim), Coupling(dim)))

    def log_prob(self, x):
        total = 0.0
        for part in self.parts:
            x, logdet = part(x)
            total = total + logdet
        base = -0.5 * (x * x + math.log(2 * math.pi)).sum(1)
        return base + total


def data(n):
    a = torch.rand(n, 1) * 2 * math.pi
    return torch.cat([a.cos(), a.sin(), (2 * a).sin(), a / math.pi - 1], 1) + 0.1 * torch.randn(n, 4)


torch.manual_seed(88)
flow = Flow(4)
opt = torch.optim.Adam(flow.parameters(), lr=3e-3)
for it in range(10):
    nll = -flow.log_prob(data(64)).mean()
    opt.zero_grad()
    nll.backward(retain_graph=True)
    opt.step()
    if it % 3 == 0:
        print(f"{it}: nll {nll.item():.4f}")
