# expect: pattern = grad-then-backward
# expect: also = higher-order
# expect: raises = RuntimeError: Trying to backward through the graph a second time
# expect: carrier = energy, forces
"""Fit a small neural potential to energies and forces of Lennard-Jones clusters."""
import numpy as np
import torch
from torch import nn


class RadialBasis(nn.Module):
    def __init__(self, n_basis=12, cutoff=3.0):
        super().__init__()
        self.register_buffer("centers", torch.linspace(0.7, cutoff, n_basis))
        self.cutoff = cutoff

    def forward(self, r):
        envelope = 0.5 * (torch.cos(np.pi * r / self.cutoff) + 1) * (r < self.cutoff)
        return torch.exp(-8.0 * (r.unsqueeze(-1) - self.centers) ** 2) * envelope.unsqueeze(-1)


class PairPotential(nn.Module):
    """Sum of atomic energies from a density of radial functions; returns energies and forces."""

    def __init__(self, n_basis=12, hidden=32):
        super().__init__()
        self.basis = RadialBasis(n_basis)
        self.embed = nn.Linear(n_basis, hidden)
        self.readout = nn.Sequential(nn.SiLU(), nn.Linear(hidden, hidden), nn.SiLU(), nn.Linear(hidden, 1))

    def energy(self, pos):
        n = pos.shape[1]
        i, j = torch.triu_indices(n, n, offset=1)
        r = (pos[:, i] - pos[:, j]).norm(dim=-1)
        pair = self.embed(self.basis(r))
        density = torch.zeros(pos.shape[0], n, pair.shape[-1])
        density = density.index_add(1, i, pair).index_add(1, j, pair)
        return self.readout(density).sum(dim=(1, 2))

    def forward(self, pos):
        pos = pos.clone().requires_grad_(True)
        energy = self.energy(pos)  # expect: place
        forces = -torch.autograd.grad(energy.sum(), pos)[0]  # expect: place
        return energy, forces


def lennard_jones(pos):
    pos = pos.clone().requires_grad_(True)
    n = pos.shape[1]
    i, j = torch.triu_indices(n, n, offset=1)
    inv6 = (pos[:, i] - pos[:, j]).norm(dim=-1).pow(-6)
    e = (inv6 ** 2 - inv6).sum(1)
    f = -torch.autograd.grad(e.sum(), pos)[0]
    return e.detach(), f.detach()


def sample_clusters(n_frames, seed):
    gen = torch.Generator().manual_seed(seed)
    grid = torch.tensor([[x, y, z] for x in (0, 1) for y in (0, 1) for z in (0, 1)]).float()[:6] * 1.15
    return grid + 0.06 * torch.randn(n_frames, 6, 3, generator=gen)


class ForceFieldTrainer:
    def __init__(self, model, rho=0.9, lr=2e-3):
        self.model = model
        self.rho = rho
        self.opt = torch.optim.Adam(model.parameters(), lr=lr)

    def loss_fn(self, pred, ref):
        e_loss = (pred[0] - ref[0]).pow(2).mean()
        f_loss = (pred[1] - ref[1]).pow(2).mean()
        return (1 - self.rho) * e_loss + self.rho * f_loss  # expect: place

    def run_epoch(self, pos, energy, forces, batch_size=16):
        losses = []
        for idx in torch.randperm(len(pos)).split(batch_size):
            pred = self.model(pos[idx])  # expect: place
            loss = self.loss_fn(pred, (energy[idx], forces[idx]))  # expect: place
            self.opt.zero_grad()
            loss.backward()  # expect: place
            self.opt.step()
            losses.append(loss.item())
        return np.mean(losses)


if __name__ == "__main__":
    torch.manual_seed(11)
    pos = sample_clusters(96, seed=5)
    ref_e, ref_f = lennard_jones(pos)
    ref_e = ref_e - ref_e.mean()
    trainer = ForceFieldTrainer(PairPotential())
    for epoch in range(6):
        print(f"epoch {epoch}: loss {trainer.run_epoch(pos, ref_e, ref_f):.4f}")
