"""1D diffusion on tide gauge records.

The gauges come with 3 channels at 48 samples and the U-Net wants 8 channels at 24, so a conv brings them into shape.
First batch is fine, dies at loss.backward() later on.
"""
import math

import torch
import torch.nn as nn
import torch.nn.functional as F
from torch.utils.data import DataLoader, TensorDataset


def cycle(dl):
    while True:
        for data in dl:
            yield data


class SinusoidalPosEmb(nn.Module):
    def __init__(self, dim):
        super().__init__()
        self.dim = dim

    def forward(self, t):
        half = self.dim // 2
        freq = torch.exp(torch.arange(half) * -(math.log(10000) / (half - 1)))
        emb = t[:, None] * freq[None]
        return torch.cat((emb.sin(), emb.cos()), dim=-1)


class Denoiser(nn.Module):
    def __init__(self, channels, dim=16):
        super().__init__()
        self.time = nn.Sequential(SinusoidalPosEmb(dim), nn.Linear(dim, dim), nn.GELU())
        self.down = nn.Conv1d(channels, dim, 3, padding=1)
        self.mid = nn.Conv1d(dim, dim, 3, padding=1)
        self.up = nn.Conv1d(2 * dim, channels, 3, padding=1)

    def forward(self, x, t):
        h = F.silu(self.down(x) + self.time(t)[..., None])
        return self.up(torch.cat([F.silu(self.mid(h)), h], dim=1))


class GaussianDiffusion(nn.Module):
    def __init__(self, model, timesteps=50):
        super().__init__()
        self.model = model
        self.num_timesteps = timesteps
        alphas = torch.cumprod(1 - torch.linspace(1e-3, 0.15, timesteps), 0)
        self.register_buffer("sqrt_ac", alphas.sqrt())
        self.register_buffer("sqrt_1m_ac", (1 - alphas).sqrt())

    def forward(self, x0):
        t = torch.randint(0, self.num_timesteps, (x0.shape[0],))
        noise = torch.randn_like(x0)
        x = self.sqrt_ac[t][:, None, None] * x0 + self.sqrt_1m_ac[t][:, None, None] * noise
        return F.mse_loss(self.model(x, t.float()), noise)


class Trainer:
    def __init__(self, diffusion, dataset, stem, train_lr=2e-3, train_num_steps=20, batch_size=8):
        self.model = diffusion
        self.stem = stem
        self.train_num_steps = train_num_steps
        self.dl = cycle(DataLoader(dataset, batch_size=batch_size, shuffle=True))
        self.opt = torch.optim.Adam([*diffusion.parameters(), *stem.parameters()], lr=train_lr)

    def train(self):
        for step in range(self.train_num_steps):
            (data,) = next(self.dl)
            loss = self.model(self.stem(data))
            loss.backward()
            self.opt.step()
            self.opt.zero_grad()
            if step % 5 == 0:
                print(f"{step}: loss {loss.item():.4f}")


def tide_records(n=40):
    hours = torch.arange(48.0)
    m2 = torch.sin(2 * math.pi * hours / 12.42 + 6.28 * torch.rand(n, 1))
    s2 = torch.sin(2 * math.pi * hours / 12.0 + 6.28 * torch.rand(n, 1))
    surge = 0.2 * torch.randn(n, 48).cumsum(1)
    return torch.stack([m2 + 0.4 * s2, surge, m2 * surge], dim=1)


if __name__ == "__main__":
    torch.manual_seed(3)
    stem = nn.Sequential(nn.Conv1d(3, 8, 5, stride=2, padding=2), nn.Tanh())
    series = tide_records()
    dataset = TensorDataset(series)
    diffusion = GaussianDiffusion(Denoiser(channels=8))
    Trainer(diffusion, dataset, stem).train()
