# expect: pattern = none
# expect: raises = nothing
"""Denoising diffusion for small 1-D signals (Raman-like spectra) with self-conditioning and EMA.

The two loss terms are walked one after the other; both graphs are their own.
"""
import copy
import math

import torch
import torch.nn as nn
from torch.nn.utils.parametrizations import weight_norm

CFG = dict(length=32, width=32, levels=50, batch=32, steps=60, lr=3e-3, ema=0.98, seed=17)


class Denoiser(nn.Module):
    def __init__(self, length, width):
        super().__init__()
        self.register_buffer("freq", torch.exp(torch.linspace(0, 4, 8)))
        self.time = nn.Linear(16, width)
        self.inp = weight_norm(nn.Linear(2 * length, width))
        self.mid = weight_norm(nn.Linear(width, width))
        self.out = nn.Linear(width, length)

    def forward(self, noisy, level, guess):
        angle = level.unsqueeze(1) * self.freq
        h = self.inp(torch.cat([noisy, guess], dim=1))
        h += self.time(torch.cat([angle.sin(), angle.cos()], dim=1))    # a sum saves nothing
        h = nn.functional.silu(h)
        h = h + nn.functional.silu(self.mid(h))
        return self.out(h)


class Ema:
    def __init__(self, model, decay):
        self.decay = decay
        self.shadow = copy.deepcopy(model).eval().requires_grad_(False)

    @torch.no_grad()
    def follow(self, model):
        for s, p in zip(self.shadow.parameters(), model.parameters()):
            s.mul_(self.decay).add_(p, alpha=1 - self.decay)


def spectra(n, length):
    grid = torch.linspace(0, 1, length)
    kind = torch.randint(0, 3, (n, 1))
    place = 0.25 + 0.25 * kind + 0.02 * torch.randn(n, 1)
    return 2 * torch.exp(-((grid - place) / 0.06) ** 2) - 0.5


def corrupt(clean, level):
    signal = torch.cos(level * math.pi / 2).unsqueeze(1)
    noise = torch.randn_like(clean)
    return signal * clean + (1 - signal ** 2).sqrt() * noise


def denoising_loss(model, clean, level, condition):
    noisy = corrupt(clean, level)
    guess = torch.zeros_like(noisy)
    if condition:
        with torch.no_grad():
            guess = model(noisy, level, guess)
    return (model(noisy, level, guess) - clean).pow(2).mean()


def train(cfg):
    torch.manual_seed(cfg["seed"])
    model = Denoiser(cfg["length"], cfg["width"])
    ema = Ema(model, cfg["ema"])
    optimizer = torch.optim.AdamW(model.parameters(), lr=cfg["lr"])
    history = {"plain": [], "conditioned": []}
    for step in range(cfg["steps"]):
        clean = spectra(cfg["batch"], cfg["length"])
        level = torch.randint(1, cfg["levels"], (cfg["batch"],)) / cfg["levels"]
        optimizer.zero_grad()
        for name, flag in (("plain", False), ("conditioned", True)):
            loss = denoising_loss(model, clean, level, flag)
            (0.5 * loss).backward()
            history[name].append(loss.detach())
        optimizer.step()
        ema.follow(model)
        if step % 15 == 14:
            recent = {k: torch.stack(v[-15:]).mean().item() for k, v in history.items()}
            print(step + 1, {k: round(v, 3) for k, v in recent.items()})
    return ema.shadow


if __name__ == "__main__":
    shadow = train(CFG)
    with torch.no_grad():
        x = torch.randn(4, CFG["length"])
        guess = torch.zeros_like(x)
        for level in torch.linspace(0.98, 0.02, 12):
            guess = shadow(x, level.repeat(4), guess)
            x = corrupt(guess, (level - 0.02).clamp_min(0).repeat(4))
    print("peaks of four samples:", guess.argmax(dim=1).tolist())
