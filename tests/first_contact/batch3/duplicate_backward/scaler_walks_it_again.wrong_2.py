"""Denoising diffusion on a 2-D swiss roll, trained through a small precision wrapper."""
import math

import torch
import torch.nn as nn


class LossScaler:
    """Scale the loss before its backward, unscale the gradients before the step."""

    def __init__(self, scale=256.0):
        self.scale_value = scale

    def backward(self, loss):
        (loss * self.scale_value).backward()

    def unscale_(self, optimizer):
        for group in optimizer.param_groups:
            for p in group["params"]:
                if p.grad is not None:
                    p.grad.div_(self.scale_value)

    def __call__(self, loss, optimizer, clip=None):
        self.backward(loss)
        self.unscale_(optimizer)
        if clip:
            for group in optimizer.param_groups:
                nn.utils.clip_grad_norm_(group["params"], clip)
        optimizer.step()


class Denoiser(nn.Module):
    def __init__(self, steps=50):
        super().__init__()
        beta = torch.linspace(1e-4, 0.05, steps)
        self.register_buffer("alpha_bar", torch.cumprod(1 - beta, 0))
        self.steps = steps
        self.net = nn.Sequential(nn.Linear(4, 48), nn.GELU(), nn.Linear(48, 48), nn.GELU(), nn.Linear(48, 2))

    def forward(self, x, t):
        phase = 2 * math.pi * t.float() / self.steps
        return self.net(torch.cat([x, phase.sin()[:, None], phase.cos()[:, None]], 1))

    def loss(self, x0):
        t = torch.randint(0, self.steps, (len(x0),))
        ab = self.alpha_bar[t][:, None]
        noise = torch.randn_like(x0)
        return (self(ab.sqrt() * x0 + (1 - ab).sqrt() * noise, t) - noise).pow(2).mean()


def roll(n):
    u = 1.5 * math.pi * (1 + 2 * torch.rand(n))
    return torch.stack([u * u.cos(), u * u.sin()], 1) / 10


def train(iterations=12):
    torch.manual_seed(64)
    model, scaler = Denoiser(), LossScaler()
    optimizer = torch.optim.AdamW(model.parameters(), lr=1e-3)
    for i in range(iterations):
        optimizer.zero_grad()
        loss = model.loss(roll(64))
        loss.backward()
        loss = model.loss(roll(64))
        scaler(loss, optimizer, clip=1.0)
        if i % 4 == 0:
            print(i, loss.item())


train()
