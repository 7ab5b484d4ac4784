"""Diffusion of dune profiles with timesteps drawn by how badly they went lately."""
import copy
import math

import torch
import torch.nn as nn


class EMA:
    def __init__(self, model, decay=0.95):
        self.decay = decay
        self.shadow = copy.deepcopy(model).requires_grad_(False)

    @torch.no_grad()
    def update(self, model):
        for s, p in zip(self.shadow.parameters(), model.parameters()):
            s.lerp_(p, 1 - self.decay)


class ScheduleSampler:
    def weights(self):
        raise NotImplementedError

    @torch.no_grad()
    def sample(self, n):
        p = self.weights()
        p = p / p.sum()
        t = torch.multinomial(p, n, replacement=True)
        return t, 1.0 / (len(p) * p[t])

    def update(self, t, losses):
        pass


class UniformSampler(ScheduleSampler):
    def __init__(self, steps):
        self.steps = steps

    def weights(self):
        return torch.ones(self.steps)


class RecentLossSampler(ScheduleSampler):
    """Importance by the root mean square of the last losses at each timestep."""

    def __init__(self, steps, keep=4, floor=0.02):
        self.history = torch.ones(steps, keep)
        self.floor = floor

    def weights(self):
        w = self.history.square().mean(1).sqrt()
        return w / w.sum() * (1 - self.floor) + self.floor / len(w)

    def update(self, t, losses):
        for ti, loss in zip(t.tolist(), losses):
            self.history[ti] = torch.cat([self.history[ti, 1:], loss.detach().reshape(1)])


class Denoiser(nn.Module):
    def __init__(self, length, width=32):
        super().__init__()
        self.inp = nn.Linear(length, width)
        self.time = nn.Linear(8, width)
        self.mid = nn.Sequential(nn.SiLU(), nn.Linear(width, width), nn.SiLU())
        self.out = nn.Linear(width, length)

    def forward(self, x, t):
        freq = torch.exp(-math.log(1000.0) * torch.arange(4) / 4)
        phase = t[:, None].float() * freq
        h = self.inp(x) + self.time(torch.cat([phase.sin(), phase.cos()], 1))
        return self.out(self.mid(h))


class GaussianDiffusion:
    def __init__(self, steps):
        betas = torch.linspace(1e-3, 0.2, steps)
        self.abar = torch.cumprod(1 - betas, 0)

    def per_sample_loss(self, model, x0, t):
        noise = torch.randn_like(x0)
        a = self.abar[t][:, None]
        return (model(a.sqrt() * x0 + (1 - a).sqrt() * noise, t) - noise).square().mean(1)


class TrainLoop:
    def __init__(self, model, diffusion, sampler, lr=2e-3):
        self.model, self.diffusion, self.sampler = model, diffusion, sampler
        self.opt = torch.optim.AdamW(model.parameters(), lr=lr)
        self.ema = EMA(model)

    def run_step(self, x0):
        t, weights = self.sampler.sample(len(x0))
        losses = self.diffusion.per_sample_loss(self.model, x0, t)
        self.opt.zero_grad()
        (losses * weights).mean().backward()
        self.opt.step()
        self.ema.update(self.model)
        self.sampler.update(t, losses)
        return losses.mean().item()


def dunes(n, length=16):
    x = torch.linspace(0, 2 * math.pi, length)
    crest, height = 2 * math.pi * torch.rand(n, 1), 0.5 + torch.rand(n, 1)
    return height * torch.cos(x - crest) + 0.3 * torch.cos(2 * (x - crest))


if __name__ == "__main__":
    torch.manual_seed(12)
    loop = TrainLoop(Denoiser(16), GaussianDiffusion(20), RecentLossSampler(20))
    for step in range(40):
        mse = loop.run_step(dunes(16))
        if step % 10 == 9:
            print(f"step {step + 1}: mse {mse:.3f}, hardest t = {int(loop.sampler.weights().argmax())}")
