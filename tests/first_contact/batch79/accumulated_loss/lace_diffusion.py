# expect: pattern = accumulated-loss
# expect: raises = RuntimeError: Trying to backward through the graph a second time
# expect: carrier = pending, loss
"""Denoising diffusion of bobbin-lace draughts, with gradient accumulation and an EMA copy."""
import copy
from dataclasses import dataclass

import torch
from torch import nn


@dataclass(frozen=True)
class Config:
    points: int = 24
    timesteps: int = 50
    width: int = 48
    micro_batch: int = 8
    micro_per_update: int = 4
    micro_batches: int = 160
    snr_cap: float = 5.0
    lr: float = 2e-3
    ema: float = 0.98


class Schedule:
    def __init__(self, cfg):
        betas = torch.linspace(1e-3, 0.12, cfg.timesteps)
        self.alpha_bar = torch.cumprod(1 - betas, 0)
        snr = self.alpha_bar / (1 - self.alpha_bar)
        self.weight = snr.clamp(max=cfg.snr_cap) / snr

    def corrupt(self, x, t, noise):
        a = self.alpha_bar[t].unsqueeze(1)
        return a.sqrt() * x + (1 - a).sqrt() * noise


class Denoiser(nn.Module):
    def __init__(self, cfg):
        super().__init__()
        self.time = nn.Embedding(cfg.timesteps, cfg.width)
        self.inp = nn.Linear(cfg.points, cfg.width)
        self.mid = nn.Sequential(nn.SiLU(), nn.Linear(cfg.width, cfg.width), nn.SiLU())
        self.out = nn.Linear(cfg.width, cfg.points)

    def forward(self, x, t):
        h = self.inp(x) + self.time(t)
        return self.out(h + self.mid(h))


def draughts(cfg):
    """Threads cross in a regular rhythm; phase and density differ from piece to piece."""
    position = torch.linspace(0, 6.28, cfg.points)
    while True:
        density = torch.randint(1, 4, (cfg.micro_batch, 1))
        phase = torch.rand(cfg.micro_batch, 1) * 6.28
        yield torch.sin(density * position + phase)


def weighted_loss(model, schedule, x, cfg):
    t = torch.randint(cfg.timesteps, (len(x),))
    noise = torch.randn_like(x)
    error = (model(schedule.corrupt(x, t, noise), t) - noise).pow(2).mean(1)
    return (schedule.weight[t] * error).mean()


@torch.no_grad()
def follow(shadow, model, rate):
    for kept, fresh in zip(shadow.parameters(), model.parameters()):
        kept.lerp_(fresh, 1 - rate)


def train(cfg):
    model = Denoiser(cfg)
    shadow = copy.deepcopy(model).requires_grad_(False)
    schedule = Schedule(cfg)
    optimizer = torch.optim.Adam(model.parameters(), lr=cfg.lr)
    pending = 0.0  # expect: place
    for i, x in enumerate(draughts(cfg)):
        if i == cfg.micro_batches:
            break
        loss = weighted_loss(model, schedule, x, cfg)
        pending = pending + loss / cfg.micro_per_update  # expect: place
        if (i + 1) % cfg.micro_per_update == 0:
            pending.backward()  # expect: place
            optimizer.step()
            optimizer.zero_grad()  # expect: place
            follow(shadow, model, cfg.ema)
        if i % 40 == 0:
            print(f"micro-batch {i:3d}: {loss.item():.3f}")
    return shadow


if __name__ == "__main__":
    torch.manual_seed(4)
    train(Config())
