# expect: pattern = growing-history
# expect: raises = nothing
# expect: carrier = shadow, self.shadow
"""Denoising diffusion on a two-dimensional toy set, sampled with averaged weights."""
import math
from contextlib import contextmanager
from dataclasses import dataclass

import torch
from torch import nn


@dataclass
class DiffusionConfig:
    steps: int = 40
    batch: int = 64
    hidden: int = 48
    iters: int = 30
    lr: float = 2e-3
    ema_decay: float = 0.95
    sample_every: int = 15


class EMA:
    def __init__(self, model, decay):
        self.decay = decay
        self.shadow = {name: p.detach().clone() for name, p in model.named_parameters()}

    def update(self, model):
        for name, p in model.named_parameters():
            self.shadow[name] = self.decay * self.shadow[name] + (1.0 - self.decay) * p  # expect: place

    @contextmanager
    def applied(self, model):
        backup = {name: p.detach().clone() for name, p in model.named_parameters()}
        for name, p in model.named_parameters():
            p.data.copy_(self.shadow[name])
        try:
            yield model
        finally:
            for name, p in model.named_parameters():
                p.data.copy_(backup[name])


class NoisePredictor(nn.Module):
    def __init__(self, cfg, n_freq=8):
        super().__init__()
        self.register_buffer("freq", torch.exp(torch.linspace(0, math.log(100.0), n_freq)))
        self.net = nn.Sequential(nn.Linear(2 + 2 * n_freq, cfg.hidden), nn.SiLU(),
                                 nn.Linear(cfg.hidden, cfg.hidden), nn.SiLU(), nn.Linear(cfg.hidden, 2))

    def forward(self, x, t):
        angle = t.unsqueeze(-1) * self.freq
        return self.net(torch.cat([x, angle.sin(), angle.cos()], dim=-1))


class Diffusion:
    def __init__(self, steps):
        self.steps = steps
        self.beta = torch.linspace(1e-3, 0.2, steps)
        self.alpha_bar = torch.cumprod(1 - self.beta, dim=0)

    def loss(self, model, x0):
        t = torch.randint(0, self.steps, (len(x0),))
        noise = torch.randn_like(x0)
        a = self.alpha_bar[t].unsqueeze(-1)
        predicted = model(a.sqrt() * x0 + (1 - a).sqrt() * noise, t / self.steps)
        return (predicted - noise).pow(2).mean()

    @torch.no_grad()
    def sample(self, model, n):
        x = torch.randn(n, 2)
        for i in reversed(range(self.steps)):
            eps = model(x, torch.full((n,), i / self.steps))
            x = (x - self.beta[i] / (1 - self.alpha_bar[i]).sqrt() * eps) / (1 - self.beta[i]).sqrt()
            if i:
                x = x + self.beta[i].sqrt() * torch.randn_like(x)
        return x


def two_rings(n):
    angle = torch.rand(n) * 2 * math.pi
    radius = torch.where(torch.rand(n) < 0.5, 0.5, 1.5) + 0.05 * torch.randn(n)
    return torch.stack([radius * angle.cos(), radius * angle.sin()], dim=-1)


def train(cfg):
    model, diffusion = NoisePredictor(cfg), Diffusion(cfg.steps)
    ema = EMA(model, cfg.ema_decay)
    optimizer = torch.optim.Adam(model.parameters(), lr=cfg.lr)
    for it in range(1, cfg.iters + 1):
        loss = diffusion.loss(model, two_rings(cfg.batch))
        optimizer.zero_grad()
        loss.backward()
        optimizer.step()
        ema.update(model)  # expect: place
        if it % cfg.sample_every == 0:
            with ema.applied(model) as averaged:
                radius = diffusion.sample(averaged, 128).norm(dim=-1)
            print(f"iter {it}: loss {loss.item():.4f}, mean radius of samples {radius.mean().item():.3f}")
    return model


if __name__ == "__main__":
    torch.manual_seed(12)
    train(DiffusionConfig())
