# expect: pattern = grad-then-backward
# expect: also = higher-order
# expect: raises = RuntimeError: Trying to backward through the graph a second time
# expect: carrier = forces, energy, energies
"""Energy-and-force matching of a small interatomic potential on Lennard-Jones clusters."""
import itertools

import torch
from torch import nn


def lj_energy(pos):
    """(B, N, 3) -> (B,), reduced units"""
    i, j = torch.triu_indices(pos.shape[1], pos.shape[1], offset=1)
    r2 = ((pos[:, i] - pos[:, j]) ** 2).sum(-1)
    s6 = 1.0 / r2 ** 3
    return (4 * (s6 ** 2 - s6)).sum(-1)


def make_clusters(n_clusters, n_atoms=5):
    """Compact clusters, shaken; label with the exact energy and forces."""
    grid = torch.tensor(list(itertools.product(range(2), repeat=3)), dtype=torch.float)
    base = torch.stack([grid[torch.randperm(len(grid))[:n_atoms]] for _ in range(n_clusters)]) * 1.25
    pos = (base + 0.04 * torch.randn(n_clusters, n_atoms, 3)).requires_grad_()
    energy = lj_energy(pos)
    force, = torch.autograd.grad(energy.sum(), pos)
    return pos.detach(), energy.detach(), -force


class RadialBasis(nn.Module):
    def __init__(self, n=12, cutoff=3.0):
        super().__init__()
        self.cutoff = cutoff
        self.register_buffer("centres", torch.linspace(0.8, cutoff, n))
        self.gamma = (n / cutoff) ** 2 / 2

    def forward(self, r):
        window = 0.5 * (torch.cos(torch.pi * r / self.cutoff) + 1) * (r < self.cutoff)
        return torch.exp(-self.gamma * (r.unsqueeze(-1) - self.centres) ** 2) * window.unsqueeze(-1)


class AtomicPotential(nn.Module):
    """Sum over atoms of a function of a permutation-invariant environment."""

    def __init__(self, n_basis=16, hidden=32):
        super().__init__()
        self.basis = RadialBasis(n_basis)
        self.mix = nn.Linear(n_basis, hidden, bias=False)
        self.atom = nn.Sequential(nn.SiLU(), nn.Linear(hidden, hidden), nn.SiLU(), nn.Linear(hidden, 1))
        self.shift = nn.Parameter(torch.zeros(()))

    def forward(self, pos):
        n = pos.shape[1]
        i, j = torch.tensor([(a, b) for a in range(n) for b in range(n) if a != b]).T
        r = (pos[:, i] - pos[:, j]).norm(dim=-1)
        pair = self.mix(self.basis(r))
        env = torch.zeros(pos.shape[0], n, pair.shape[-1]).index_add(1, i, pair)
        return self.atom(env).squeeze(-1).sum(-1) + n * self.shift


def predict(model, pos):
    pos = pos.clone().requires_grad_(True)
    energies = model(pos)  # expect: place
    forces = -torch.autograd.grad(energies.sum(), pos)[0]  # expect: place
    return energies, forces


def train(model, data, epochs=15, batch=16, rho=0.2, lr=1e-2):
    pos, energy, force = data
    optimizer = torch.optim.Adam(model.parameters(), lr=lr)
    schedule = torch.optim.lr_scheduler.CosineAnnealingLR(optimizer, epochs)
    e_scale, f_scale = energy.std(), force.std()
    for epoch in range(epochs):
        stats = torch.zeros(2)
        for idx in torch.randperm(len(pos)).split(batch):
            e, f = predict(model, pos[idx])
            e_loss = ((e - energy[idx]) / e_scale).pow(2).mean()
            f_loss = ((f - force[idx]) / f_scale).pow(2).mean()
            optimizer.zero_grad()
            (rho * e_loss + (1 - rho) * f_loss).backward()  # expect: place
            optimizer.step()
            stats += torch.tensor([e_loss.item(), f_loss.item()]) * len(idx) / len(pos)
        schedule.step()
        if epoch % 3 == 2:
            print(f"epoch {epoch + 1:2d}  energy {stats[0].item():.4f}  forces {stats[1].item():.4f}")


if __name__ == "__main__":
    torch.manual_seed(40)
    train(AtomicPotential(), make_clusters(256))
