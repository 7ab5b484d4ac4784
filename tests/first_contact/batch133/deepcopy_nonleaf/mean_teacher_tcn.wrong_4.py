"""Mean-teacher TCN for heat-demand forecasting: few labelled series, many unlabelled ones."""

import copy
import math
from dataclasses import dataclass

import torch
import torch.nn as nn
import torch.nn.functional as F


@dataclass
class Settings:
    history: int = 32
    horizon: int = 4
    channels: int = 12
    kernel: int = 3
    levels: int = 3
    batch: int = 16
    steps: int = 20
    lr: float = 4e-3
    decay: float = 0.95
    consistency: float = 0.5
    noise: float = 0.1


class WNConv1d(nn.Module):
    """Causal convolution with weight normalisation, initialised from data."""

    def __init__(self, cin, cout, kernel, dilation):
        super().__init__()
        self.pad = (kernel - 1) * dilation
        self.dilation = dilation
        self.v = nn.Parameter(0.05 * torch.randn(cout, cin, kernel))
        self.g = nn.Parameter(torch.ones(cout))
        self.bias = nn.Parameter(torch.zeros(cout))
        self.initialised = False

    def _init_from(self, out):
        with torch.no_grad():
            mean, std = out.mean(dim=(0, 2)), out.std(dim=(0, 2)) + 1e-6
            self.g.div_(std)
            self.bias.copy_(-mean / std)
        self.initialised = True

    def forward(self, x):
        x = F.pad(x, (self.pad, 0))
        norm = self.v.flatten(1).norm(dim=1).view(-1, 1, 1)
        self.weight = self.g.view(-1, 1, 1) * self.v / norm
        out = F.conv1d(x, self.weight, self.bias, dilation=self.dilation)
        if not self.initialised:
            self._init_from(out)
            return self.forward(x[..., self.pad :])
        return out


class TCN(nn.Module):
    def __init__(self, cfg):
        super().__init__()
        widths = [1] + [cfg.channels] * cfg.levels
        self.convs = nn.ModuleList(
            WNConv1d(a, b, cfg.kernel, 2**level)
            for level, (a, b) in enumerate(zip(widths, widths[1:]))
        )
        self.head = nn.Linear(cfg.channels, cfg.horizon)

    def forward(self, x):
        h = x.unsqueeze(1)
        for conv in self.convs:
            y = F.relu(conv(h))
            h = y if h.shape != y.shape else h + y
        return self.head(h[..., -1])


def heat_demand(cfg, n, generator):
    length = cfg.history + cfg.horizon
    t = torch.arange(length, dtype=torch.float32)
    phase = 2 * math.pi * torch.rand(n, 1, generator=generator)
    level = torch.randn(n, 1, generator=generator)
    series = level + torch.sin(2 * math.pi * t / 24 + phase) + 0.4 * torch.cos(math.pi * t / 6)
    series = series + 0.1 * torch.randn(n, length, generator=generator)
    return series[:, : cfg.history], series[:, cfg.history :]


class MeanTeacher:
    def __init__(self, model, cfg, first_batch):
        self.cfg = cfg
        self.student = model
        self.teacher = copy.deepcopy(self.student)
        for p in self.teacher.parameters():
            p.requires_grad_(False)
        self.optimizer = torch.optim.Adam(self.student.parameters(), lr=cfg.lr)

    @torch.no_grad()
    def update_teacher(self):
        for slow, fast in zip(self.teacher.parameters(), self.student.parameters()):
            slow.lerp_(fast, 1 - self.cfg.decay)

    def step(self, labelled, unlabelled):
        x, y = labelled
        supervised = F.huber_loss(self.student(x), y)
        noisy = unlabelled + self.cfg.noise * torch.randn_like(unlabelled)
        with torch.no_grad():
            target = self.teacher(unlabelled)
        loss = supervised + self.cfg.consistency * F.mse_loss(self.student(noisy), target)
        self.optimizer.zero_grad()
        loss.backward()
        self.optimizer.step()
        self.update_teacher()
        return supervised.item(), loss.item()


def main():
    torch.manual_seed(8)
    cfg = Settings()
    generator = torch.Generator().manual_seed(80)
    warm, _ = heat_demand(cfg, 4 * cfg.batch, generator)
    trainer = MeanTeacher(TCN(cfg), cfg, warm)
    for step in range(cfg.steps):
        labelled = heat_demand(cfg, cfg.batch // 4, generator)
        unlabelled, _ = heat_demand(cfg, cfg.batch, generator)
        supervised, total = trainer.step(labelled, unlabelled)
        if step % 5 == 4:
            print(f"step {step + 1:3d}  supervised {supervised:.4f}  total {total:.4f}")


if __name__ == "__main__":
    main()
