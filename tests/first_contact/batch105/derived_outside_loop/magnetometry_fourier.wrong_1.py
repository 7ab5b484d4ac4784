"""Fluxgate survey of a field: interpolate between the walked lines with a coordinate network.

Coordinates are lifted by sines whose frequencies are learnt along with the network, since nobody
knows beforehand how fine the ditches are. The survey is walked in zigzag, 1 m between the lines.
"""
import math
import random
import time

import torch
from torch import nn
from torch.nn import functional as F

SEED = 23
FIELD = 30.0  # metres


def ditches(xy):
    """nT: a ring ditch, two furrows and a kiln."""
    x, y = xy.unbind(-1)
    ring = torch.exp(-(((x - 12).hypot(y - 16) - 6) / 0.9) ** 2)
    furrows = 0.5 * torch.sin(2 * math.pi * (x + 0.3 * y) / 7.5)
    kiln = 2 * torch.exp(-((x - 22) ** 2 + (y - 8) ** 2) / 3)
    return 3 * ring + furrows + kiln


def walk(spacing=1.0, step=0.5):
    lines = []
    for number, x in enumerate(torch.arange(0, FIELD, spacing)):
        y = torch.arange(0, FIELD, step)
        y = y.flip(0) if number % 2 else y
        lines.append(torch.stack([x.expand_as(y), y], -1))
    xy = torch.cat(lines)
    return xy, ditches(xy) + 0.15 * torch.randn(len(xy))


class FourierBank(nn.Module):
    def __init__(self, waves=32, scale=3.0):
        super().__init__()
        self.freq = nn.Parameter(scale * torch.randn(2, waves))

    def forward(self, xy):
        phase = (2 * xy / FIELD - 1) @ self.freq
        return torch.cat([phase.sin(), phase.cos()], -1)


class Field(nn.Module):
    def __init__(self, waves=32, width=48):
        super().__init__()
        self.body = nn.Sequential(nn.Linear(2 * waves, width), nn.SiLU(),
                                  nn.Linear(width, width), nn.SiLU(), nn.Linear(width, 1))

    def forward(self, lifted):
        return self.body(lifted).squeeze(-1)


def destagger(reading, xy):
    """Zigzag survey: take the mean of every line away, as the surveyors do."""
    lines = xy[:, 0].round().long()
    mean = torch.zeros(int(lines.max()) + 1).index_add_(0, lines, reading) / lines.bincount()
    return reading - mean[lines]


def report(epoch, bank, field, losses, began):
    side = torch.linspace(2, FIELD - 2, 40)
    grid = torch.cartesian_prod(side, side)
    with torch.no_grad():
        picture = field(bank(grid))
        truth = ditches(grid)
        fit = torch.corrcoef(torch.stack([picture, truth]))[0, 1].item()
    print(f"[{time.time() - began:4.1f} s] epoch {epoch:2d} loss {sum(losses) / len(losses):.3f} r {fit:.3f}")


def train(epochs=15, size=200):
    xy, reading = walk()
    reading = destagger(reading, xy)
    bank, field = FourierBank(), Field()
    optimizer = torch.optim.Adam([
        {"params": field.parameters(), "lr": 5e-3},
        {"params": bank.parameters(), "lr": 2e-2},
    ])
    schedule = torch.optim.lr_scheduler.CosineAnnealingLR(optimizer, epochs)
    began = time.time()
    lifted = bank(xy)
    order = list(range(len(xy)))
    for epoch in range(epochs):
        random.shuffle(order)
        losses = []
        for start in range(0, len(order), size):
            rows = torch.tensor(order[start:start + size])
            loss = F.mse_loss(field(lifted[rows]), reading[rows])
            optimizer.zero_grad()
            loss.backward(retain_graph=True)
            optimizer.step()
            losses.append(loss.item())
        schedule.step()
        if epoch % 5 == 4:
            report(epoch, bank, field, losses, began)
    return bank, field


if __name__ == "__main__":
    random.seed(SEED)
    torch.manual_seed(SEED)
    bank, _ = train()
    print("median frequency", bank.freq.norm(dim=0).median().item())
