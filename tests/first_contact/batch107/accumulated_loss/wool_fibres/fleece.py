"""The scans, and the net that reads them."""
import math

import torch
import torch.nn.functional as F
from torch import nn

WIDTH = 64


def scans(n):
    """Brightness across a lock: a comb of fibres, finer combs for finer wool, waved by the crimp."""
    diameter = 15 + 15 * torch.rand(n)  # micron
    crimp = 2 + 6 * torch.rand(n)  # per cm
    at = torch.arange(WIDTH) / WIDTH
    wave = 0.05 * torch.sin(2 * math.pi * crimp[:, None] * at + 6 * torch.rand(n, 1))
    light = torch.cos(2 * math.pi * (220 / diameter)[:, None] * (at + wave))
    light = light + 0.2 * torch.randn(n, WIDTH)
    return light[:, None], torch.stack([(diameter - 22.5) / 4.3, (crimp - 5) / 1.7], 1)


class FleeceModule(nn.Module):
    def __init__(self, width, smooth=1e-3):
        super().__init__()
        self.smooth = smooth
        self.first = nn.Conv1d(1, width, 9, padding=4, bias=False)
        self.rest = nn.Sequential(
            nn.BatchNorm1d(width), nn.GELU(), nn.MaxPool1d(2),
            nn.Conv1d(width, width, 5, padding=2, bias=False), nn.BatchNorm1d(width), nn.GELU(),
            nn.AdaptiveMaxPool1d(4), nn.Flatten())
        self.diameter = nn.Linear(4 * width, 1)
        self.crimp = nn.Linear(4 * width, 1)

    def forward(self, x):
        h = self.rest(self.first(x))
        return torch.cat([self.diameter(h), self.crimp(h)], 1)

    def configure(self):
        optimizer = torch.optim.AdamW(self.parameters(), lr=3e-3, weight_decay=1e-2)
        return optimizer, torch.optim.lr_scheduler.ExponentialLR(optimizer, 0.7)

    def training_step(self, batch):
        x, y = batch
        out = self(x)
        diameter = F.smooth_l1_loss(out[:, 0], y[:, 0])
        crimp = F.smooth_l1_loss(out[:, 1], y[:, 1])
        smooth = self.first.weight.diff(dim=-1).pow(2).sum()
        loss = diameter + 0.5 * crimp + self.smooth * smooth
        return {"loss": loss, "diameter": diameter, "crimp": crimp, "smooth": smooth}  # expect: place

    def validation_step(self, batch):
        x, y = batch
        gap = (self(x) - y).abs().mean(0)
        return {"val_diameter": 4.3 * gap[0], "val_crimp": 1.7 * gap[1]}
