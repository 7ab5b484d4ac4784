"""Energy-based model of pebble shapes.

Chains of Langevin dynamics start from a buffer of earlier samples; contrastive divergence with a small
regulariser on the energies. The sampler needs the gradient of the energy with respect to the sample only.
"""
from __future__ import annotations

import random
from dataclasses import dataclass

import torch
from torch import Tensor, nn


@dataclass
class Settings:
    dim: int = 8
    batch: int = 16
    steps: int = 12
    step_size: float = 0.5
    noise: float = 0.02
    buffer: int = 200
    fresh: float = 0.1
    iterations: int = 15
    alpha: float = 0.1


class Energy(nn.Module):
    def __init__(self, dim: int) -> None:
        super().__init__()
        self.net = nn.Sequential(nn.Linear(dim, 32), nn.SiLU(), nn.Linear(32, 32), nn.SiLU(), nn.Linear(32, 1))

    def forward(self, x: Tensor) -> Tensor:
        return self.net(x).squeeze(-1)


class Sampler:
    def __init__(self, energy: Energy, s: Settings) -> None:
        self.energy, self.s = energy, s
        self.examples = [torch.rand(1, s.dim) * 2 - 1 for _ in range(s.batch)]

    def draw(self) -> Tensor:
        s = self.s
        n_new = sum(random.random() < s.fresh for _ in range(s.batch))
        old = random.sample(self.examples, s.batch - n_new)
        x = torch.cat([torch.rand(n_new, s.dim) * 2 - 1, *old])
        x = self.walk(x)
        self.examples = ([*x.split(1)] + self.examples)[: s.buffer]
        return x

    def walk(self, x: Tensor) -> Tensor:
        was = self.energy.training
        self.energy.eval().requires_grad_(False)
        x = x.clone().requires_grad_(True)
        for _ in range(self.s.steps):
            with torch.no_grad():
                x.add_(self.s.noise * torch.randn_like(x)).clamp_(-1.0, 1.0)
            self.energy(x).sum().backward()
            with torch.no_grad():
                x -= self.s.step_size * x.grad.clamp_(-0.03, 0.03)
                x.clamp_(-1.0, 1.0)
            x.grad = None
        self.energy.requires_grad_(True).train(was)
        return x.detach()


def pebbles(n: int) -> Tensor:
    angle = torch.arange(8) * torch.pi / 4
    stretch = 0.2 + 0.3 * torch.rand(n, 1)
    return 0.3 + stretch * torch.cos(angle - torch.pi * torch.rand(n, 1)).pow(2) * 0.8


def main() -> None:
    torch.manual_seed(17)
    random.seed(17)
    s = Settings()
    energy = Energy(s.dim)
    optimizer = torch.optim.Adam(energy.parameters(), lr=1e-3, betas=(0.0, 0.999))
    sampler = Sampler(energy, s)
    gaps = []
    for it in range(s.iterations):
        real = pebbles(s.batch)
        real.add_(0.01 * torch.randn_like(real))
        fake = sampler.draw()
        e_real, e_fake = energy(torch.cat([real, fake])).chunk(2)
        loss = (e_real - e_fake).mean() + s.alpha * (e_real**2 + e_fake**2).mean()
        optimizer.zero_grad()
        loss.backward()
        nn.utils.clip_grad_norm_(energy.parameters(), 0.1)
        optimizer.step()
        gaps.append((e_fake - e_real).detach().mean())
        if it % 5 == 4:
            print(f"{it + 1:3d}  loss {loss:.4f}  gap {torch.stack(gaps[-5:]).mean():.4f}  kept {len(sampler.examples)}")


if __name__ == "__main__":
    main()
