"""Energies and forces of small Lennard-Jones clusters with a pairwise neural potential."""
import torch
from torch import nn

N_ATOMS = 5


def lj_reference(pos):
    pos = pos.clone().requires_grad_(True)
    i, j = torch.triu_indices(N_ATOMS, N_ATOMS, offset=1)
    r = (pos[:, i] - pos[:, j]).norm(dim=-1)
    energy = (4 * (r**-12 - r**-6)).sum(1)
    force = -torch.autograd.grad(energy.sum(), pos)[0]
    return energy.detach(), force


def random_clusters(n):
    base = 1.15 * torch.tensor(
        [[0.0, 0, 0], [1, 0, 0], [0.5, 0.87, 0], [0.5, 0.29, 0.82], [0.5, 0.29, -0.82]]
    )
    return base + 0.03 * torch.randn(n, N_ATOMS, 3)


class RadialBasis(nn.Module):
    def __init__(self, n=12, cutoff=3.0):
        super().__init__()
        self.register_buffer("centers", torch.linspace(0.6, cutoff, n))
        self.gamma = 8.0

    def forward(self, r):
        return torch.exp(-self.gamma * (r.unsqueeze(-1) - self.centers) ** 2)


class PairPotential(nn.Module):
    def __init__(self, hidden=32):
        super().__init__()
        self.rbf = RadialBasis()
        self.mlp = nn.Sequential(nn.Linear(12, hidden), nn.SiLU(), nn.Linear(hidden, hidden), nn.SiLU(), nn.Linear(hidden, 1))

    def forward(self, pos):
        i, j = torch.triu_indices(N_ATOMS, N_ATOMS, offset=1)
        r = (pos[:, i] - pos[:, j]).norm(dim=-1)
        return self.mlp(self.rbf(r)).sum(dim=(1, 2))

    def energy_and_forces(self, pos):
        pos.requires_grad_(True)
        energy = self(pos)
        dE_dR = torch.autograd.grad(energy, pos, grad_outputs=torch.ones_like(energy), retain_graph=True)[0]
        return energy, (-dE_dR).requires_grad_(True)


def run(epochs=20, batch=32, w_energy=1.0, w_force=10.0):
    torch.manual_seed(12)
    pos = random_clusters(160)
    energy, force = lj_reference(pos)
    shift = energy.mean()
    model = PairPotential()
    optimizer = torch.optim.Adam(model.parameters(), lr=3e-3)
    for epoch in range(epochs):
        mae_e = mae_f = 0.0
        for idx in torch.randperm(len(pos)).split(batch):
            optimizer.zero_grad()
            e_pred, f_pred = model.energy_and_forces(pos[idx])
            loss_e = (e_pred - (energy[idx] - shift)).pow(2).mean()
            loss_f = (f_pred - force[idx]).pow(2).mean()
            loss = w_energy * loss_e + w_force * loss_f
            loss.backward()
            optimizer.step()
            mae_e += loss_e.item() ** 0.5
            mae_f += loss_f.item() ** 0.5
        if epoch % 5 == 4:
            print(f"epoch {epoch}: rmse E {mae_e / 5:.3f}  F {mae_f / 5:.3f}")


if __name__ == "__main__":
    run()
