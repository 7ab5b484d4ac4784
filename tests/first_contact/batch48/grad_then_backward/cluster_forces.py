# expect: pattern = grad-then-backward
# expect: raises = RuntimeError: Trying to backward through the graph a second time
# expect: carrier = forces
"""A neural pair potential for argon-like clusters, trained on energies and forces."""
import argparse

import torch
from torch import nn


def lennard_jones(xyz):
    i, j = torch.triu_indices(xyz.shape[1], xyz.shape[1], offset=1)
    r2 = (xyz[:, i] - xyz[:, j]).square().sum(-1)
    s6 = r2.reciprocal() ** 3
    return (4 * (s6 * s6 - s6)).sum(1)


def sample_clusters(n, atoms, noise=0.08):
    grid = torch.cartesian_prod(*[torch.arange(2.0)] * 3)[:atoms] * 1.15
    xyz = grid + noise * torch.randn(n, atoms, 3)
    leaf = xyz.clone().requires_grad_()
    energy = lennard_jones(leaf)
    force = -torch.autograd.grad(energy.sum(), leaf)[0]
    return xyz, energy.detach(), force


class PairPotential(nn.Module):
    def __init__(self, centres=12, width=24):
        super().__init__()
        self.register_buffer("mu", torch.linspace(0.7, 2.6, centres))
        self.net = nn.Sequential(nn.Linear(centres, width), nn.SiLU(), nn.Linear(width, 1))

    def forward(self, xyz):
        i, j = torch.triu_indices(xyz.shape[1], xyz.shape[1], offset=1)
        r = (xyz[:, i] - xyz[:, j]).norm(dim=-1, keepdim=True)
        return self.net(torch.exp(-8.0 * (r - self.mu) ** 2)).sum(dim=(1, 2))


class Calculator:
    """What a simulation calls: positions in, energy and forces out."""

    def __init__(self, potential):
        self.potential = potential

    def __call__(self, xyz):
        xyz = xyz.detach().requires_grad_(True)
        energy = self.potential(xyz)
        slope, = torch.autograd.grad(energy.sum(), xyz)  # expect: place
        return energy, -slope


class Fitter:
    def __init__(self, potential, lr, force_weight):
        self.calc = Calculator(potential)
        self.opt = torch.optim.AdamW(potential.parameters(), lr=lr)
        self.force_weight = force_weight

    def step(self, xyz, energy, force):
        guess, forces = self.calc(xyz)
        e_err = (guess - energy).square().mean()
        f_err = (forces - force).square().mean()
        self.opt.zero_grad(set_to_none=True)
        (e_err + self.force_weight * f_err).backward()  # expect: place
        self.opt.step()
        return e_err.item(), f_err.item()


def main():
    p = argparse.ArgumentParser()
    p.add_argument("--atoms", type=int, default=6)
    p.add_argument("--epochs", type=int, default=3)
    p.add_argument("--force-weight", type=float, default=0.1)
    a = p.parse_args()
    torch.manual_seed(42)
    data = sample_clusters(64, a.atoms)
    fitter = Fitter(PairPotential(), 3e-3, a.force_weight)
    for epoch in range(a.epochs):
        for k in range(0, 64, 16):
            e, f = fitter.step(*(d[k:k + 16] for d in data))
        print(f"{epoch}: energy mse {e:.3f}   force mse {f:.3f}")


if __name__ == "__main__":
    main()
