# expect: pattern = missing-zero-grad
# expect: raises = nothing
# expect: carrier = energy, net, x
"""Joint classifier / energy model for reflectance spectra (JEM style).

logits f(x)[y] give p(y|x); E(x) = -logsumexp_y f(x)[y] gives an unnormalised p(x).
Negatives come from short SGLD chains that restart from a pool.
"""
from dataclasses import dataclass

import torch
from torch import nn
import torch.nn.functional as F


@dataclass
class Settings:
    bands: int = 24
    minerals: int = 4
    batch: int = 32
    chain_length: int = 12
    chain_step: float = 0.15
    chain_noise: float = 0.02
    pool_size: int = 256
    reinit: float = 0.05
    weight_gen: float = 0.2
    lr: float = 2e-3
    iters: int = 40


class SpectraNet(nn.Module):
    def __init__(self, cfg):
        super().__init__()
        self.body = nn.Sequential(
            nn.Linear(cfg.bands, 48), nn.SiLU(),
            nn.Linear(48, 48), nn.SiLU(),
        )
        self.out = nn.Linear(48, cfg.minerals)

    def forward(self, x):
        return self.out(self.body(x))

    def energy(self, x):
        return -torch.logsumexp(self(x), dim=1)


def synthetic_library(cfg):
    """Absorption dips at mineral-specific wavelengths, values around zero."""
    wl = torch.linspace(0, 1, cfg.bands)
    centres = torch.linspace(0.15, 0.85, cfg.minerals)

    def sample(n):
        y = torch.randint(cfg.minerals, (n,))
        depth = 0.5 + 0.5 * torch.rand(n, 1)
        dip = torch.exp(-((wl - centres[y].unsqueeze(1)) / 0.08) ** 2)
        return -depth * dip + 0.05 * torch.randn(n, cfg.bands), y

    return sample


def make_sampler(net, cfg):
    pool = torch.rand(cfg.pool_size, cfg.bands) - 0.8

    def draw(n):
        idx = torch.randint(cfg.pool_size, (n,))
        fresh = torch.rand(n, cfg.bands) - 0.8
        restart = (torch.rand(n, 1) < cfg.reinit).float()
        x = restart * fresh + (1 - restart) * pool[idx]
        for _ in range(cfg.chain_length):
            x.requires_grad_(True)
            energy = net.energy(x).sum()  # expect: place
            energy.backward()  # expect: place
            with torch.no_grad():
                x = x - cfg.chain_step * x.grad  # expect: place
                x = x + cfg.chain_noise * torch.randn_like(x)
        pool[idx] = x
        return x

    return draw


def main():
    torch.manual_seed(11)
    cfg = Settings()
    sample = synthetic_library(cfg)
    net = SpectraNet(cfg)
    draw = make_sampler(net, cfg)
    opt = torch.optim.Adam(net.parameters(), lr=cfg.lr)

    for it in range(cfg.iters):
        x, y = sample(cfg.batch)
        opt.zero_grad()  # expect: place
        x_neg = draw(cfg.batch)  # expect: place

        cls = F.cross_entropy(net(x), y)
        gap = net.energy(x).mean() - net.energy(x_neg).mean()
        loss = cls + cfg.weight_gen * gap
        loss.backward()  # expect: place
        opt.step()  # expect: place

        if it % 10 == 0:
            print(f"{it:3d}  ce {cls.item():.3f}  gap {gap.item():+.3f}")

    x, y = sample(400)
    with torch.no_grad():
        acc = (net(x).argmax(1) == y).float().mean().item()
    print(f"accuracy {acc:.3f}")


if __name__ == "__main__":
    main()
