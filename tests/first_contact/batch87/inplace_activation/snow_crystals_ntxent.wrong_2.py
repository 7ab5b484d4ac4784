"""Shapes of snow crystals without labels: SimCLR on outlines in polar coordinates."""
import math

import torch
from torch import nn
from torch.nn import functional as F

CONFIG = dict(radii=36, width=48, dim=12, batch=20, temperature=0.3, steps=25, warmup=5, lr=3e-3)


class Outline:
    """Radius as a function of angle, six-fold with some dendrites."""

    KINDS = ("plate", "star", "dendrite", "column")

    def __init__(self, n):
        angle = torch.arange(n) * (2 * math.pi / n)
        self.base = torch.stack([
            1 + 0.05 * torch.cos(6 * angle),
            1 + 0.45 * torch.cos(6 * angle),
            1 + 0.3 * torch.cos(6 * angle) + 0.25 * torch.cos(18 * angle),
            1 + 0.5 * torch.cos(2 * angle),
        ])

    def draw(self, count):
        kind = torch.randint(0, len(self.KINDS), (count,))
        return self.base[kind] * (0.8 + 0.4 * torch.rand(count, 1)), kind


def augment(r):
    shift = int(torch.randint(0, r.shape[1], (1,)))
    r = torch.roll(r, shift, dims=1)
    if torch.rand(()) < 0.5:
        r = r.flip(1)
    return r + 0.05 * torch.randn_like(r)


class Encoder(nn.Module):
    def __init__(self, cfg):
        super().__init__()
        self.conv = nn.Sequential(
            nn.Conv1d(1, 8, 5, padding=2, padding_mode="circular"), nn.ReLU(inplace=True),
            nn.Conv1d(8, 8, 5, stride=2, padding=2, padding_mode="circular"), nn.ReLU(inplace=True),
        )
        self.fc = nn.Linear(8 * cfg["radii"] // 2, cfg["width"])
        self.project = nn.Sequential(nn.ReLU(inplace=True), nn.Linear(cfg["width"], cfg["dim"]))

    def features(self, r):
        return self.fc(self.conv(r.unsqueeze(1)).flatten(1))

    def forward(self, r):
        z = self.project(self.features(r))
        z.data /= z.data.norm(dim=1, keepdim=True)
        return z


def nt_xent(z1, z2, temperature):
    n = z1.shape[0]
    z = torch.cat([z1, z2])
    sim = z @ z.t() / temperature
    sim.fill_diagonal_(-1e9)
    partner = torch.arange(2 * n).roll(n)
    return F.cross_entropy(sim, partner)


@torch.no_grad()
def neighbour_purity(encoder, outlines, n=80):
    r, kind = outlines.draw(n)
    f = F.normalize(encoder.features(r), dim=1)
    near = (f @ f.t()).fill_diagonal_(-2).argmax(1)
    return (kind[near] == kind).float().mean().item()


def main(cfg=CONFIG):
    torch.manual_seed(6)
    outlines = Outline(cfg["radii"])
    encoder = Encoder(cfg)
    opt = torch.optim.AdamW(encoder.parameters(), lr=cfg["lr"])
    ramp = torch.optim.lr_scheduler.LambdaLR(opt, lambda k: min(1.0, (k + 1) / cfg["warmup"]))
    for step in range(cfg["steps"]):
        r, _ = outlines.draw(cfg["batch"])
        loss = nt_xent(encoder(augment(r)), encoder(augment(r)), cfg["temperature"])
        opt.zero_grad()
        loss.backward()
        opt.step()
        ramp.step()
        if step % 8 == 0:
            print(f"{step:3d} loss {loss.item():.3f} purity {neighbour_purity(encoder, outlines):.2f}")


main()
