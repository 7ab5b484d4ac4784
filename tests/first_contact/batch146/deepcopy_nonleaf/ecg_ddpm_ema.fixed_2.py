# DDPM on single-lead ECG beats, with an EMA copy of the network for sampling
import math
from dataclasses import dataclass

import numpy as np
import torch
from torch import nn
import torch.nn.functional as F


@dataclass
class Config:
    length: int = 48
    width: int = 16
    timesteps: int = 50
    train_steps: int = 24
    batch_size: int = 16
    lr: float = 1e-3
    ema_start: int = 8
    ema_decay: float = 0.95
    sample_every: int = 12


def make_beats(n, length):
    grid = np.linspace(-1, 1, length)
    rng = np.random.RandomState(0)
    beats = []
    for _ in range(n):
        shift, amp = rng.normal(0, 0.05), rng.uniform(0.8, 1.2)
        beat = amp * np.exp(-((grid - shift) / 0.06) ** 2)
        beat += 0.25 * np.exp(-((grid - shift - 0.45) / 0.15) ** 2)
        beat += 0.12 * np.exp(-((grid - shift + 0.4) / 0.1) ** 2)
        beats.append(beat)
    return torch.tensor(np.array(beats), dtype=torch.float32).unsqueeze(1)


def sinusoidal(t, dim):
    half = dim // 2
    freqs = torch.exp(-math.log(1000.0) * torch.arange(half) / half)
    args = t[:, None].float() * freqs[None]
    return torch.cat([args.sin(), args.cos()], dim=-1)


class SelfAttention1d(nn.Module):
    def __init__(self, ch):
        super().__init__()
        self.norm = nn.GroupNorm(4, ch)
        self.qkv = nn.Conv1d(ch, 3 * ch, 1)
        self.proj = nn.Conv1d(ch, ch, 1)
        self.attn = None

    def forward(self, x):
        q, k, v = self.qkv(self.norm(x)).chunk(3, dim=1)
        attn = torch.softmax(q.transpose(1, 2) @ k / math.sqrt(q.shape[1]), dim=-1)
        self.attn = attn
        return x + self.proj((attn @ v.transpose(1, 2)).transpose(1, 2))


class ResBlock(nn.Module):
    def __init__(self, ch, emb):
        super().__init__()
        self.conv1, self.conv2 = nn.Conv1d(ch, ch, 5, padding=2), nn.Conv1d(ch, ch, 5, padding=2)
        self.emb = nn.Linear(emb, ch)

    def forward(self, x, emb):
        h = self.conv1(F.silu(x)) + self.emb(emb)[:, :, None]
        return x + self.conv2(F.silu(h))


class DenoiseNet(nn.Module):
    def __init__(self, cfg):
        super().__init__()
        self.width = cfg.width
        self.inp = nn.Conv1d(1, cfg.width, 5, padding=2)
        self.down = ResBlock(cfg.width, cfg.width)
        self.mid = SelfAttention1d(cfg.width)
        self.up = ResBlock(cfg.width, cfg.width)
        self.out = nn.Conv1d(cfg.width, 1, 5, padding=2)

    def forward(self, x, t):
        emb = sinusoidal(t, self.width)
        h = self.down(self.inp(x), emb)
        return self.out(F.silu(self.up(self.mid(h), emb)))


class Diffusion:
    def __init__(self, cfg):
        self.betas = torch.linspace(1e-4, 0.1, cfg.timesteps)
        self.alpha_bar = torch.cumprod(1 - self.betas, dim=0)
        self.T = cfg.timesteps

    def loss(self, net, x0):
        t = torch.randint(0, self.T, (len(x0),))
        noise = torch.randn_like(x0)
        ab = self.alpha_bar[t][:, None, None]
        return F.mse_loss(net(ab.sqrt() * x0 + (1 - ab).sqrt() * noise, t), noise)

    @torch.no_grad()
    def sample(self, net, shape, generator):
        x = torch.randn(shape, generator=generator)
        for i in reversed(range(self.T)):
            eps = net(x, torch.full((shape[0],), i))
            beta, ab = self.betas[i], self.alpha_bar[i]
            x = (x - beta / (1 - ab).sqrt() * eps) / (1 - beta).sqrt()
            if i > 0:
                x = x + beta.sqrt() * torch.randn(shape, generator=generator)
        return x


def update_ema(ema, net, decay):
    with torch.no_grad():
        for pe, p in zip(ema.parameters(), net.parameters()):
            pe.mul_(decay).add_(p, alpha=1 - decay)


def train(cfg):
    data = make_beats(128, cfg.length)
    net, diffusion, ema = DenoiseNet(cfg), Diffusion(cfg), None
    opt = torch.optim.AdamW(net.parameters(), lr=cfg.lr)
    generator = torch.Generator().manual_seed(1)
    for step in range(1, cfg.train_steps + 1):
        batch = data[torch.randint(0, len(data), (cfg.batch_size,))]
        loss = diffusion.loss(net, batch)
        opt.zero_grad()
        loss.backward()
        nn.utils.clip_grad_norm_(net.parameters(), 1.0)
        opt.step()

        if step == cfg.ema_start:
            ema = DenoiseNet(cfg)
            ema.load_state_dict(net.state_dict())
        elif ema is not None:
            update_ema(ema, net, cfg.ema_decay)
        if ema is not None and step % cfg.sample_every == 0:
            beats = diffusion.sample(ema, (4, 1, cfg.length), generator)
            peak = ema.mid.attn.max().item()
            print(f"step {step} loss {loss.item():.4f} sample std {beats.std():.3f} attn peak {peak:.3f}")
    return ema


if __name__ == "__main__":
    torch.manual_seed(7)
    train(Config())
