"""Fit a small interatomic potential to energies and forces of a Lennard-Jones cluster."""
from dataclasses import dataclass

import torch
from torch import nn


@dataclass(frozen=True)
class FitConfig:
    atoms: int = 6
    cutoff: float = 3.0
    n_basis: int = 10
    width: int = 24
    frames: int = 48
    batch: int = 12
    epochs: int = 3
    energy_weight: float = 0.05
    force_weight: float = 1.0


class RadialBasis(nn.Module):
    def __init__(self, n_basis, cutoff):
        super().__init__()
        self.cutoff = cutoff
        self.register_buffer("centres", torch.linspace(0.7, cutoff, n_basis))
        self.register_buffer("gamma", torch.tensor((n_basis / cutoff) ** 2))

    def forward(self, r):
        envelope = 0.5 * (torch.cos(torch.pi * r / self.cutoff) + 1) * (r < self.cutoff)
        return torch.exp(-self.gamma * (r.unsqueeze(-1) - self.centres) ** 2) * envelope.unsqueeze(-1)


class PairPotential(nn.Module):
    """Energy is a sum over atoms of what each sees; forces follow from it."""

    def __init__(self, cfg):
        super().__init__()
        self.basis = RadialBasis(cfg.n_basis, cfg.cutoff)
        self.atom_net = nn.Sequential(nn.Linear(cfg.n_basis, cfg.width), nn.SiLU(),
                                      nn.Linear(cfg.width, cfg.width), nn.SiLU(), nn.Linear(cfg.width, 1))
        i, j = torch.where(~torch.eye(cfg.atoms, dtype=torch.bool))
        self.register_buffer("i", i)
        self.register_buffer("j", j)

    def energy(self, pos):
        r = (pos[:, self.i] - pos[:, self.j]).norm(dim=-1)
        features = torch.zeros(*pos.shape[:2], self.basis.centres.numel())
        features = features.index_add(1, self.i, self.basis(r))
        return self.atom_net(features).sum(dim=(1, 2))

    def forward(self, pos):
        pos = pos.clone().requires_grad_(True)
        energy = self.energy(pos)
        forces = -torch.autograd.grad(energy.sum(), pos)[0]
        return {"energy": energy.detach(), "forces": forces}


def lennard_jones(pos):
    n = pos.shape[1]
    i, j = torch.triu_indices(n, n, offset=1)
    delta = pos[:, i] - pos[:, j]
    inv2 = 1.0 / delta.pow(2).sum(-1).clamp(min=0.8)
    energy = 4 * (inv2 ** 6 - inv2 ** 3).sum(-1)
    pull = (24 * inv2 * (2 * inv2 ** 6 - inv2 ** 3)).unsqueeze(-1) * delta
    forces = torch.zeros_like(pos).index_add(1, i, pull).index_add(1, j, -pull)
    return energy, forces


def make_frames(cfg):
    rest = torch.tensor([[x, y, 0.0] for x in range(3) for y in range(2)])[: cfg.atoms] * 1.12
    pos = rest + 0.08 * torch.randn(cfg.frames, cfg.atoms, 3)
    energy, forces = lennard_jones(pos)
    return torch.utils.data.TensorDataset(pos, energy - energy.mean(), forces)


class Fitter:
    def __init__(self, cfg):
        self.cfg = cfg
        self.model = PairPotential(cfg)
        self.optimizer = torch.optim.Adam(self.model.parameters(), lr=5e-3)
        self.loader = torch.utils.data.DataLoader(make_frames(cfg), batch_size=cfg.batch, shuffle=True)

    def loss(self, out, energy, forces):
        e = nn.functional.mse_loss(out["energy"], energy)
        f = nn.functional.mse_loss(out["forces"], forces)
        return self.cfg.energy_weight * e + self.cfg.force_weight * f, f.sqrt().item()

    def run(self):
        for epoch in range(self.cfg.epochs):
            for pos, energy, forces in self.loader:
                loss, force_rmse = self.loss(self.model(pos), energy, forces)
                self.optimizer.zero_grad(set_to_none=True)
                loss.backward()
                self.optimizer.step()
            print(f"epoch {epoch}: loss {loss.item():.3f}, force rmse {force_rmse:.3f}")


if __name__ == "__main__":
    torch.manual_seed(5)
    Fitter(FitConfig()).run()
