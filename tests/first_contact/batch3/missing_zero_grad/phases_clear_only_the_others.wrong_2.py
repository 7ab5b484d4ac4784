"""Variational dequantiser and score net trained in alternation by a two-phase engine."""
from contextlib import contextmanager

import torch
import torch.nn as nn


class Energy(nn.Module):
    def __init__(self, d):
        super().__init__()
        self.net = nn.Sequential(nn.Linear(d, 32), nn.SiLU(), nn.Linear(32, 1))

    def forward(self, x):
        return self.net(x).squeeze(-1) + 0.05 * x.pow(2).sum(-1)


class Sampler(nn.Module):
    def __init__(self, d, noise=4):
        super().__init__()
        self.noise = noise
        self.net = nn.Sequential(nn.Linear(noise, 32), nn.SiLU(), nn.Linear(32, d))

    def forward(self, n):
        return self.net(torch.randn(n, self.noise))


class Phases:
    """with phases('energy') as run: run(loss)"""

    def __init__(self, **modules):
        self.modules = modules
        self.optims = {k: torch.optim.Adam(m.parameters(), lr=2e-3, betas=(0.5, 0.9))
                       for k, m in modules.items()}

    @contextmanager
    def __call__(self, name):
        optim = self.optims[name]

        def run(loss):
            loss.backward()
            nn.utils.clip_grad_norm_(self.modules[name].parameters(), 1.0)
            optim.step()
            return loss.item()

        try:
            yield run
        finally:
            for key, other in self.optims.items():
                if key != name:
                    other.zero_grad()


def rings(n):
    a = torch.rand(n) * 6.2832
    r = torch.randint(1, 3, (n,)).float()
    return torch.stack([r * a.cos(), r * a.sin()], 1) + 0.05 * torch.randn(n, 2)


def main():
    torch.manual_seed(47)
    energy, sampler = Energy(2), Sampler(2)
    phases = Phases(energy=energy, sampler=sampler)
    for it in range(9):
        for _ in range(3):
            with phases("energy") as run:
                real, fake = rings(48), sampler(48).detach()
                e = run(energy(real).mean() - energy(fake).mean() + 0.1 * energy(real).pow(2).mean())
        with phases("sampler") as run:
            s = run(energy(sampler(48)).mean())
        if it % 4 == 0:
            print(f"{it}: energy {e:+.4f} sampler {s:+.4f}")


if __name__ == "__main__":
    main()
