# expect: pattern = none
# expect: raises = nothing
"""Consistency training for mineral Raman spectra: adjacent noise levels must agree; the lower level is
judged by a slowly following copy."""
import copy
import math

import torch
from torch import nn


class Denoiser(nn.Module):
    def __init__(self, n=24, width=48, sigma_data=0.5, sigma_min=0.05):
        super().__init__()
        self.sigma_data, self.sigma_min = sigma_data, sigma_min
        self.register_buffer("freq", 2 * math.pi * torch.randn(4))
        self.net = nn.Sequential(nn.Linear(n + 8, width), nn.SiLU(inplace=True), nn.Linear(width, width),
                                 nn.SiLU(inplace=True), nn.Linear(width, n))

    def forward(self, x, sigma):
        s = sigma.view(-1, 1)
        skip = self.sigma_data ** 2 / ((s - self.sigma_min) ** 2 + self.sigma_data ** 2)
        out = self.sigma_data * (s - self.sigma_min) / (s ** 2 + self.sigma_data ** 2).sqrt()
        phase = 0.25 * s.log() * self.freq
        code = torch.cat([phase.sin(), phase.cos()], 1)
        scaled = x / (s ** 2 + self.sigma_data ** 2).sqrt()
        return skip * x + out * self.net(torch.cat([scaled, code], 1))


def karras(n, low=0.05, high=5.0, rho=7.0):
    ramp = torch.linspace(0, 1, n)
    return (low ** (1 / rho) + ramp * (high ** (1 / rho) - low ** (1 / rho))) ** rho


@torch.no_grad()
def follow(slow, fast, mu):
    for a, b in zip(slow.parameters(), fast.parameters()):
        a.mul_(mu).add_(b, alpha=1 - mu)


def spectra(n, gen, bins=24):
    line = torch.tensor([5.0, 11.0, 17.0])[torch.randint(0, 3, (n,), generator=gen)]
    grid = torch.arange(bins)
    return torch.exp(-0.5 * ((grid - line[:, None]) / 1.5) ** 2) + 0.02 * torch.randn(n, bins, generator=gen)


def main(steps=40):
    torch.manual_seed(501)
    gen = torch.Generator().manual_seed(502)
    online = Denoiser()
    target = copy.deepcopy(online).requires_grad_(False)
    optimizer = torch.optim.RAdam(online.parameters(), lr=2e-3)
    window = []
    for step in range(steps):
        levels = karras(4 + step // 10)
        x = spectra(32, gen)
        i = torch.randint(0, len(levels) - 1, (len(x),), generator=gen)
        noise = torch.randn(x.shape, generator=gen)
        upper = online(x + levels[i + 1, None] * noise, levels[i + 1])
        lower = target(x + levels[i, None] * noise, levels[i])
        weight = 1 / (levels[i + 1] - levels[i])
        distance = ((upper - lower).square().sum(1) + 1e-4).sqrt() - 1e-2
        loss = (weight * distance).mean()
        optimizer.zero_grad()
        loss.backward()
        optimizer.step()
        follow(target, online, mu=0.9)
        window.append(loss.detach())
        if len(window) == 10:
            print(f"step {step + 1} loss {torch.stack(window).mean().item():.3f}")
            window.clear()


main()
