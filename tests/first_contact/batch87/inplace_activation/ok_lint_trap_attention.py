"""Fibres from lint traps by their infrared bands: attention over bands, written to spare memory.

In place is what may be: scores before the softmax, sums, relu after a linear layer.
"""
import math
from dataclasses import dataclass

import torch
from torch import nn
from torch.nn import functional as F


@dataclass
class Options:
    bands: int = 14
    width: int = 16
    heads: int = 2
    fibres: int = 5
    steps: int = 60
    lr: float = 5e-3


class Attention(nn.Module):
    def __init__(self, width, heads):
        super().__init__()
        self.heads = heads
        self.qkv = nn.Linear(width, 3 * width)
        self.merge = nn.Linear(width, width)

    def forward(self, x, missing):
        b, t, w = x.shape
        q, k, v = self.qkv(x).view(b, t, 3, self.heads, -1).permute(2, 0, 3, 1, 4)
        scores = torch.einsum("bhid,bhjd->bhij", q, k)
        scores /= math.sqrt(w // self.heads)
        scores.masked_fill_(missing[:, None, None, :], float("-inf"))
        mixed = torch.einsum("bhij,bhjd->bhid", scores.softmax(-1), v)
        return self.merge(mixed.transpose(1, 2).reshape(b, t, w))


class Block(nn.Module):
    def __init__(self, width, heads):
        super().__init__()
        self.norm1, self.norm2 = nn.LayerNorm(width), nn.LayerNorm(width)
        self.attention = Attention(width, heads)
        self.up, self.down = nn.Linear(width, 2 * width), nn.Linear(2 * width, width)

    def forward(self, x, missing):
        y = self.attention(self.norm1(x), missing)
        y += x
        z = self.down(self.up(self.norm2(y)).relu_())
        z += y
        return z


class FibreNet(nn.Module):
    def __init__(self, o):
        super().__init__()
        self.value = nn.Linear(1, o.width)
        self.place = nn.Parameter(0.1 * torch.randn(o.bands, o.width))
        self.blocks = nn.ModuleList(Block(o.width, o.heads) for _ in range(2))
        self.out = nn.Linear(o.width, o.fibres)

    def forward(self, spectrum):
        missing = spectrum.isnan()
        x = self.value(spectrum.nan_to_num().unsqueeze(-1))
        x += self.place
        for block in self.blocks:
            x = block(x, missing)
        kept = (~missing).float().unsqueeze(-1)
        total = (x * kept).sum(1)
        total /= kept.sum(1)
        return self.out(total)


def spectra(reference, n):
    label = torch.randint(0, len(reference), (n,))
    x = reference[label] + 0.3 * torch.randn(n, reference.shape[1])
    gap = torch.rand_like(x) < 0.15
    gap[:, 0] = False
    x[gap] = float("nan")
    return x, label


def main(o=Options()):
    torch.manual_seed(29)
    reference = torch.randn(o.fibres, o.bands)
    net = FibreNet(o)
    opt = torch.optim.Adam(net.parameters(), lr=o.lr)
    smooth = None
    for step in range(1, o.steps + 1):
        x, label = spectra(reference, 32)
        loss = F.cross_entropy(net(x), label)
        opt.zero_grad()
        loss.backward()
        opt.step()
        smooth = loss.item() if smooth is None else 0.9 * smooth + 0.1 * loss.item()
        if step % 20 == 0:
            with torch.no_grad():
                x, label = spectra(reference, 100)
                print(step, round(smooth, 3), (net(x).argmax(1) == label).float().mean().item())


main()
