"""Depth of peat between the probings, with its uncertainty, by stochastic gradient Langevin dynamics.

First a MAP estimate with Adam, then a chain of samples whose predictions are kept.
"""
import math

import torch
from torch import nn
from torch.optim import Optimizer


class SGLD(Optimizer):
    """Welling & Teh: half a gradient step and noise of the matching size."""

    def __init__(self, params, lr=1e-5, temperature=1.0):
        super().__init__(params, dict(lr=lr, temperature=temperature))

    @torch.no_grad()
    def step(self, closure=None):
        for group in self.param_groups:
            for p in group["params"]:
                if p.grad is None:
                    continue
                noise = torch.randn_like(p) * math.sqrt(group["lr"] * group["temperature"])
                p.add_(p.grad, alpha=-0.5 * group["lr"]).add_(noise)


def probings(n, gen):
    """Depth in metres at n places of a bog of 1 km by 1 km; two basins and a ridge."""
    place = torch.rand(n, 2, generator=gen)
    east, north = place.unbind(1)
    basins = 4 * torch.exp(-((east - 0.3) ** 2 + (north - 0.4) ** 2) / 0.03)
    basins = basins + 2.5 * torch.exp(-((east - 0.75) ** 2 + (north - 0.7) ** 2) / 0.02)
    return place, basins + 0.5 * north + 0.15 * torch.randn(n, generator=gen)


class Bog:
    def __init__(self, count=240, seed=0, sigma=0.15, prior=0.1):
        gen = torch.Generator().manual_seed(seed)
        self.place, self.depth = probings(count, gen)
        self.test = probings(100, gen)
        self.sigma, self.prior = sigma, prior
        self.gen = gen

    def batches(self, size=40):
        for rows in torch.randperm(len(self.place), generator=self.gen).split(size):
            yield self.place[rows], self.depth[rows]

    def energy(self, net, place, depth):
        """Negative log posterior, the batch standing for all the probings."""
        error = (net(place).squeeze(1) - depth) / self.sigma
        likelihood = 0.5 * len(self.place) * error.pow(2).mean()
        prior = sum(p.pow(2).sum() for p in net.parameters())
        return likelihood + 0.5 * self.prior * prior


def warm_up(net, bog, epochs=120):
    optimizer = torch.optim.Adam(net.parameters(), lr=2e-2)
    for _ in range(epochs):
        for place, depth in bog.batches():
            optimizer.zero_grad()
            bog.energy(net, place, depth).backward()
            optimizer.step()


def draw(net, bog, epochs=20, thin=4):
    """Samples of the test predictions along the chain."""
    chain = SGLD(net.parameters(), lr=1e-5)
    energies, kept = [], []
    chain.zero_grad()
    for epoch in range(epochs):
        for place, depth in bog.batches():
            energy = bog.energy(net, place, depth)
            energy.backward()
            chain.step()
            energies.append(energy.item())
        if epoch % thin == thin - 1:
            with torch.no_grad():
                kept.append(net(bog.test[0]).squeeze(1))
    return torch.stack(kept), energies


def summarise(kept, truth, energies):
    mean, spread = kept.mean(0), kept.std(0)
    rmse = (mean - truth).pow(2).mean().sqrt().item()
    first, last = sum(energies[:20]) / 20, sum(energies[-20:]) / 20
    print(f"energy {first:.0f} -> {last:.0f}  rmse {rmse:.3f} m  spread {spread.mean().item():.3f} m")


if __name__ == "__main__":
    torch.manual_seed(10)
    bog = Bog(seed=10)
    net = nn.Sequential(nn.Linear(2, 30), nn.Tanh(), nn.Linear(30, 30), nn.Tanh(), nn.Linear(30, 1))
    warm_up(net, bog)
    with torch.no_grad():
        print(f"MAP rmse {(net(bog.test[0]).squeeze(1) - bog.test[1]).pow(2).mean().sqrt().item():.3f} m")
    kept, energies = draw(net, bog)
    summarise(kept, bog.test[1], energies)
