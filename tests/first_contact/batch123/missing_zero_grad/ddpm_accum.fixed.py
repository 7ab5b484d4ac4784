"""Small DDPM on 2-D points, with gradient accumulation, warm-up and an EMA copy."""
import copy
import math

import torch
import torch.nn as nn
import torch.nn.functional as F


class Diffusion:
    def __init__(self, steps=50):
        self.steps = steps
        betas = torch.linspace(1e-3, 0.15, steps)
        self.alpha_bar = torch.cumprod(1 - betas, dim=0)

    def add_noise(self, x0, t, noise):
        a = self.alpha_bar[t].unsqueeze(1)
        return a.sqrt() * x0 + (1 - a).sqrt() * noise


class Denoiser(nn.Module):
    def __init__(self, width=64, n_freq=4):
        super().__init__()
        self.register_buffer("freqs", 2.0 ** torch.arange(n_freq))
        self.net = nn.Sequential(nn.Linear(2 + 2 * n_freq, width), nn.SiLU(), nn.Linear(width, width), nn.SiLU(), nn.Linear(width, 2))

    def forward(self, x, t):
        phase = t.float().unsqueeze(1) / 50 * math.pi * self.freqs
        return self.net(torch.cat([x, phase.sin(), phase.cos()], dim=1))


class Trainer:
    def __init__(self, model, diffusion, data, lr=4e-3, accum_steps=4, batch_size=32, warmup=5, ema_decay=0.95):
        self.model = model
        self.ema = copy.deepcopy(model).requires_grad_(False)
        self.diffusion = diffusion
        self.data = data
        self.accum_steps = accum_steps
        self.batch_size = batch_size
        self.ema_decay = ema_decay
        self.optimizer = torch.optim.AdamW(model.parameters(), lr=lr)
        self.scheduler = torch.optim.lr_scheduler.LambdaLR(self.optimizer, lambda s: min(1.0, (s + 1) / warmup))
        self.gen = torch.Generator().manual_seed(123)

    def micro_batch(self):
        idx = torch.randint(len(self.data), (self.batch_size,), generator=self.gen)
        x0 = self.data[idx]
        t = torch.randint(self.diffusion.steps, (self.batch_size,), generator=self.gen)
        noise = torch.randn(x0.shape, generator=self.gen)
        return x0, t, noise

    def update_ema(self):
        with torch.no_grad():
            for e, p in zip(self.ema.parameters(), self.model.parameters()):
                e.mul_(self.ema_decay).add_((1 - self.ema_decay) * p)

    def train(self, n_updates):
        self.optimizer.zero_grad()
        for update in range(n_updates):
            total = 0.0
            for _ in range(self.accum_steps):
                x0, t, noise = self.micro_batch()
                pred = self.model(self.diffusion.add_noise(x0, t, noise), t)
                loss = F.mse_loss(pred, noise) / self.accum_steps
                loss.backward()
                total += loss.item()
            self.optimizer.step()
            self.optimizer.zero_grad()
            self.scheduler.step()
            self.update_ema()
            if update % 20 == 0:
                print(f"update {update:3d}  eps-mse {total:.4f}  lr {self.scheduler.get_last_lr()[0]:.4f}")


def two_rings(n=512):
    g = torch.Generator().manual_seed(1)
    angle = 2 * math.pi * torch.rand(n, generator=g)
    radius = 0.5 + torch.randint(2, (n,), generator=g) + 0.05 * torch.randn(n, generator=g)
    return torch.stack([radius * angle.cos(), radius * angle.sin()], dim=1)


if __name__ == "__main__":
    torch.manual_seed(0)
    Trainer(Denoiser(), Diffusion(), two_rings()).train(n_updates=100)
