# expect: pattern = derived-outside-loop
# expect: raises = RuntimeError: Trying to backward through the graph a second time
# expect: carrier = sigma_ij, eps_ij
"""Refit Lennard-Jones parameters of a three-species noble gas mixture.

Reference energies stand in for quantum chemistry; unlike pairs follow the
Lorentz-Berthelot mixing rules.
"""
from dataclasses import dataclass

import torch
from torch import nn

torch.manual_seed(23)


@dataclass
class FitSettings:
    frames: int = 96
    atoms: int = 9
    batch: int = 24
    epochs: int = 15
    lr: float = 0.02


def lorentz_berthelot(sigma, eps):
    sigma_ij = 0.5 * (sigma[:, None] + sigma[None, :])
    eps_ij = torch.sqrt(eps[:, None] * eps[None, :])
    return sigma_ij, eps_ij


def pair_sum(pos, kinds, sigma_ij, eps_ij):
    i, j = torch.triu_indices(pos.shape[1], pos.shape[1], offset=1)
    r = (pos[:, i] - pos[:, j]).norm(dim=-1)
    s = sigma_ij[kinds[i], kinds[j]]
    e = eps_ij[kinds[i], kinds[j]]
    q = (s / r) ** 6
    return (4.0 * e * (q * q - q)).sum(dim=1)


class NobleGasField(nn.Module):
    def __init__(self, sigma, eps):
        super().__init__()
        self.log_sigma = nn.Parameter(torch.tensor(sigma).log())
        self.log_eps = nn.Parameter(torch.tensor(eps).log())
        self.offset = nn.Parameter(torch.zeros(()))

    def forward(self, pos, kinds):
        # small 3x3 tables, looked up for each pair of atoms
        sigma_ij, eps_ij = lorentz_berthelot(self.log_sigma.exp(), self.log_eps.exp())
        energy = pair_sum(pos, kinds, sigma_ij, eps_ij)
        return energy + self.offset


def make_reference(cfg):
    """Jittered lattice configurations and their energies under the true field."""
    side = torch.arange(3, dtype=torch.float32) * 1.25
    grid = torch.cartesian_prod(side, side, torch.zeros(1))
    pos = grid[None] + 0.10 * torch.randn(cfg.frames, cfg.atoms, 3)
    kinds = torch.tensor([0, 1, 2, 1, 2, 0, 2, 0, 1])
    s, e = lorentz_berthelot(torch.tensor([1.00, 1.08, 0.92]), torch.tensor([1.0, 1.5, 0.6]))
    return pos, kinds, pair_sum(pos, kinds, s, e) + 0.4


def fit(cfg):
    pos, kinds, target = make_reference(cfg)
    field = NobleGasField([0.96, 1.00, 0.97], [0.8, 1.0, 0.9])
    opt = torch.optim.Adam(field.parameters(), lr=cfg.lr)

    for epoch in range(cfg.epochs):
        total = 0.0
        for idx in torch.randperm(cfg.frames).split(cfg.batch):
            miss = field(pos[idx], kinds) - target[idx]
            loss = nn.functional.huber_loss(miss, torch.zeros_like(miss))
            opt.zero_grad()
            loss.backward()  # expect: place
            opt.step()
            total += loss.item() * len(idx)
        print(f"epoch {epoch:2d}  huber {total / cfg.frames:8.4f}")

    return field


if __name__ == "__main__":
    best = fit(FitSettings())
    print("sigma", best.log_sigma.exp().tolist())
    print("eps  ", best.log_eps.exp().tolist())
