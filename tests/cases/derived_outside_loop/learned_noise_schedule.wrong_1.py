# Variational diffusion with a schedule that is learned, and tabulated once.
from dataclasses import dataclass

import torch
from torch import nn


@dataclass
class Config:
    steps: int = 8
    dim: int = 3
    hidden: int = 24
    lr: float = 2e-3
    iterations: int = 5


class Schedule(nn.Module):
    def __init__(self, steps):
        super().__init__()
        self.raw = nn.Parameter(torch.zeros(steps))
        self.build_table()

    def build_table(self):
        beta = 0.5 * torch.sigmoid(self.raw - 2)
        self.alpha_bar = torch.cumprod(1 - beta, dim=0).detach()

    def signal(self, t):
        return self.alpha_bar[t].unsqueeze(1)


class Diffusion(nn.Module):
    def __init__(self, cfg):
        super().__init__()
        self.cfg = cfg
        self.schedule = Schedule(cfg.steps)
        self.net = nn.Sequential(
            nn.Linear(cfg.dim + 1, cfg.hidden), nn.SiLU(), nn.Linear(cfg.hidden, cfg.dim)
        )

    def loss(self, x):
        t = torch.randint(0, self.cfg.steps, (len(x),))
        a = self.schedule.signal(t)
        noise = torch.randn_like(x)
        noisy = a.sqrt() * x + (1 - a).sqrt() * noise
        predicted = self.net(torch.cat([noisy, a], dim=1))
        snr = (a / (1 - a)).clamp(max=5.0)
        return (snr * (predicted - noise) ** 2).mean()


def run(cfg):
    torch.manual_seed(0)
    model = Diffusion(cfg)
    optimizer = torch.optim.AdamW(model.parameters(), lr=cfg.lr)
    for i in range(cfg.iterations):
        loss = model.loss(torch.randn(32, cfg.dim) * 0.5 + 1)
        optimizer.zero_grad(set_to_none=True)
        loss.backward()
        optimizer.step()
        print(i, loss.item())


run(Config())
