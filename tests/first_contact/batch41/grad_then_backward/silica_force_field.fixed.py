"""Small neural force field: atoms in a box, energy and forces from a Morse pair potential.

Energies alone trained fine. I now want forces in the loss as well.
"""
import torch
from torch import nn


def morse(pos, depth=1.0, a=1.5, r0=1.2):
    i, j = torch.triu_indices(pos.shape[1], pos.shape[1], 1)
    r = (pos[:, i] - pos[:, j]).norm(dim=-1)
    return (depth * (1 - torch.exp(-a * (r - r0))) ** 2 - depth).sum(1)


class RBF(nn.Module):
    def __init__(self, n=12, r_max=4.0):
        super().__init__()
        self.register_buffer("mu", torch.linspace(0.5, r_max, n))
        self.gamma = 6.0

    def forward(self, r):
        return torch.exp(-self.gamma * (r.unsqueeze(-1) - self.mu) ** 2)


class Potential(nn.Module):
    """E = sum of atomic energies; F = -dE/dR."""

    def __init__(self, n_atoms, n_rbf=12, hidden=32):
        super().__init__()
        self.rbf = RBF(n_rbf)
        self.register_buffer("off", ~torch.eye(n_atoms, dtype=torch.bool))
        self.atomic = nn.Sequential(nn.Linear(n_rbf, hidden), nn.SiLU(), nn.Linear(hidden, hidden), nn.SiLU(),
                                    nn.Linear(hidden, 1))

    def energy(self, pos):
        b, n, _ = pos.shape
        diff = pos.unsqueeze(2) - pos.unsqueeze(1)
        r = diff[:, self.off].view(b, n, n - 1, 3).norm(dim=-1)
        return self.atomic(self.rbf(r).sum(2)).sum(1).squeeze(-1)

    def forward(self, pos):
        pos = pos.clone().requires_grad_(True)
        e = self.energy(pos)
        forces = -torch.autograd.grad(e.sum(), pos, create_graph=True)[0]
        return e, forces


torch.manual_seed(0)
n_atoms = 5
lattice = 1.3 * torch.tensor([[0., 0, 0], [1, 0, 0], [0, 1, 0], [0, 0, 1], [1, 1, 1]])
pos = lattice + 0.15 * torch.randn(96, n_atoms, 3)
pos.requires_grad_(True)
ref_e = morse(pos)
ref_f = -torch.autograd.grad(ref_e.sum(), pos)[0]
pos, ref_e = pos.detach(), ref_e.detach()

model = Potential(n_atoms)
optimizer = torch.optim.Adam(model.parameters(), lr=5e-3)
rho = 0.9

for epoch in range(4):
    for idx in torch.randperm(96).split(24):
        optimizer.zero_grad()
        pred_energy, pred_forces = model(pos[idx])
        loss_e = (pred_energy - ref_e[idx]).pow(2).mean()
        loss_f = (pred_forces - ref_f[idx]).pow(2).mean()
        loss = (1 - rho) * loss_e + rho * loss_f
        loss.backward()
        optimizer.step()
    print(f"epoch {epoch}: E {loss_e.item():.4f}  F {loss_f.item():.4f}")
