# expect: pattern = none
"""Energy-based model of small spin graphs, trained with persistent Langevin chains.

A slope penalty on the data keeps the landscape smooth.
"""
from dataclasses import dataclass, field

import torch
from torch import nn


def ring_with_chords(n):
    adj = torch.zeros(n, n)
    idx = torch.arange(n)
    adj[idx, (idx + 1) % n] = 1
    adj[idx, (idx + 3) % n] = 0.5
    return adj + adj.T


class GraphEnergy(nn.Module):
    def __init__(self, adj, width=12):
        super().__init__()
        self.register_buffer("adj", adj / adj.sum(1, keepdim=True))
        self.lift = nn.Linear(2, width)
        self.out = nn.Linear(width, 1)

    def forward(self, spins):
        around = spins @ self.adj
        h = torch.nn.functional.silu(self.lift(torch.stack([spins, around], -1)))
        return self.out(h).squeeze(-1).sum(1) + 0.1 * spins.pow(2).sum(1)


@dataclass
class Chains:
    spins: torch.Tensor
    noise: float = 0.1
    accepted: list = field(default_factory=list)

    def run(self, energy, steps, rate=0.05):
        spins = self.spins.detach().requires_grad_()
        for _ in range(steps):
            slope, = torch.autograd.grad(energy(spins).sum(), spins)
            with torch.no_grad():
                spins -= rate * slope
                spins += self.noise * torch.randn_like(spins)
                spins.clamp_(-3, 3)
        self.spins = spins.detach()
        self.accepted.append(float(self.spins.abs().mean()))
        return self.spins


def real_spins(n, size):
    base = torch.sign(torch.randn(n, 1))
    return base * torch.ones(n, size) + 0.3 * torch.randn(n, size)


torch.manual_seed(55)
SIZE = 10
energy = GraphEnergy(ring_with_chords(SIZE))
opt = torch.optim.Adam(energy.parameters(), lr=5e-3)
chains = Chains(torch.randn(32, SIZE))

for it in range(40):
    data = real_spins(32, SIZE).requires_grad_()
    dreamt = chains.run(energy, steps=5)
    e_data = energy(data)
    slope, = torch.autograd.grad(e_data.sum(), data, create_graph=True)
    contrast = e_data.mean() - energy(dreamt).mean()
    tame = 0.01 * slope.pow(2).sum(1).mean() + 0.001 * e_data.pow(2).mean()
    opt.zero_grad()
    (contrast + tame).backward()
    opt.step()
    if it % 10 == 0:
        print(f"{it:2d} contrast {contrast.item():+.4f} tame {tame.item():.4f} |chain| {chains.accepted[-1]:.3f}")
