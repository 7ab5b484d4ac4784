# expect: pattern = none
"""Gait phase from a shoe sensor. Attention with rotary angles that are computed once and kept, by length."""
import math

import torch
from torch import nn
import torch.nn.functional as F


class Rotary(nn.Module):
    def __init__(self, dim, base=1000.0):
        super().__init__()
        self.inv_freq = nn.Parameter(1.0 / base ** (torch.arange(0, dim, 2).float() / dim), requires_grad=False)
        self._cached = {}

    def angles(self, n):
        if n not in self._cached:
            t = torch.arange(n, dtype=self.inv_freq.dtype)
            f = torch.outer(t, self.inv_freq)
            self._cached[n] = (f.cos().repeat(1, 2), f.sin().repeat(1, 2))
        return self._cached[n]

    def forward(self, x):
        cos, sin = self.angles(x.shape[-2])
        a, b = x.chunk(2, dim=-1)
        return x * cos + torch.cat((-b, a), dim=-1) * sin


class PhaseNet(nn.Module):
    def __init__(self, dim=24, heads=3):
        super().__init__()
        self.heads = heads
        self.inp = nn.Linear(6, dim)
        self.qkv = nn.Linear(dim, 3 * dim)
        self.rotary = Rotary(dim // heads)
        self.log_scale = nn.Parameter(torch.full((heads, 1, 1), -0.5 * math.log(dim // heads)))
        self.out = nn.Linear(dim, 2)

    def forward(self, x):
        b, n, _ = x.shape
        h = F.gelu(self.inp(x))
        q, k, v = (t.view(b, n, self.heads, -1).transpose(1, 2) for t in self.qkv(h).split(h.shape[-1], dim=-1))
        q, k = self.rotary(q), self.rotary(k)
        q = q * self.log_scale.exp()
        h = h + (F.softmax(q @ k.mT, -1) @ v).transpose(1, 2).reshape(b, n, -1)
        return F.normalize(self.out(h), dim=-1)


def walks(batch, n):
    cadence = 0.2 + 0.1 * torch.rand(batch, 1)
    phase = 2 * math.pi * (torch.rand(batch, 1) + cadence * torch.arange(n))
    orders = torch.stack([torch.sin(k * phase + 0.3 * k) for k in range(1, 7)], -1)
    return orders + 0.1 * torch.randn_like(orders), torch.stack([phase.cos(), phase.sin()], -1)


if __name__ == "__main__":
    torch.manual_seed(16)
    net = PhaseNet()
    opt = torch.optim.Adam([p for p in net.parameters() if p.requires_grad], lr=4e-3)
    ema_loss = None
    for step in range(20):
        x, y = walks(8, 24 if step % 2 else 32)
        loss = 1 - (net(x) * y).sum(-1).mean()
        net.zero_grad()
        loss.backward()
        opt.step()
        value = loss.detach()
        ema_loss = value if ema_loss is None else torch.lerp(ema_loss, value, 0.2)
        if step % 5 == 4:
            print(step, f"{ema_loss:.4f}")
