import math

import torch
import torch.nn.functional as F
from torch import nn


class TimeEmbedding(nn.Module):
    def __init__(self, dim):
        super().__init__()
        self.dim = dim

    def forward(self, t):
        half = self.dim // 2
        freqs = torch.exp(-math.log(10000) * torch.arange(half) / half)
        angles = t[:, None].float() * freqs
        return torch.cat([angles.sin(), angles.cos()], dim=-1)


class Denoiser(nn.Module):
    def __init__(self, channels, dim=24):
        super().__init__()
        self.time = nn.Sequential(TimeEmbedding(dim), nn.Linear(dim, dim), nn.SiLU())
        self.inp = nn.Conv1d(channels, dim, 5, padding=2)
        self.mid = nn.Conv1d(dim, dim, 5, padding=2)
        self.out = nn.Conv1d(dim, channels, 5, padding=2)

    def forward(self, x, t):
        h = F.silu(self.inp(x)) + self.time(t)[:, :, None]
        h = h + F.silu(self.mid(h))
        return self.out(h)


class Diffusion(nn.Module):
    def __init__(self, model, timesteps=50):
        super().__init__()
        self.model = model
        self.timesteps = timesteps
        betas = torch.linspace(1e-3, 0.1, timesteps)
        bar = torch.cumprod(1 - betas, 0)
        self.register_buffer("sqrt_bar", bar.sqrt())
        self.register_buffer("sqrt_one_minus_bar", (1 - bar).sqrt())

    def q_sample(self, x0, t, noise):
        return self.sqrt_bar[t].view(-1, 1, 1) * x0 + self.sqrt_one_minus_bar[t].view(-1, 1, 1) * noise

    def forward(self, x0):
        t = torch.randint(0, self.timesteps, (x0.size(0),))
        noise = torch.randn_like(x0)
        predicted = self.model(self.q_sample(x0, t, noise), t)
        return F.mse_loss(predicted, noise)
