"""Port-Hamiltonian network for a moored buoy (heave and surge): energy and damping from logged accelerations."""
from dataclasses import dataclass

import numpy as np
import torch
import torch.nn as nn


@dataclass
class Config:
    dof: int = 2
    hidden: int = 48
    samples: int = 256
    batch: int = 64
    epochs: int = 5
    lr: float = 2e-3
    seed: int = 4


class PortHamiltonian(nn.Module):
    """x = (q, p);  dq/dt = dH/dp,  dp/dt = -dH/dq - D(q) dH/dp"""

    def __init__(self, dof, hidden):
        super().__init__()
        self.dof = dof
        self.energy = nn.Sequential(
            nn.Linear(2 * dof, hidden), nn.Tanh(),
            nn.Linear(hidden, hidden), nn.Tanh(),
            nn.Linear(hidden, 1),
        )
        self.damping = nn.Sequential(nn.Linear(dof, hidden), nn.Tanh(), nn.Linear(hidden, dof), nn.Softplus())

    def forward(self, x):
        return self.energy(x).squeeze(-1)

    def time_derivative(self, x):
        x = x.requires_grad_(True)
        H = self.forward(x)
        q, p = torch.chunk(x, 2, dim=-1)
        dHdq, dHdp = torch.chunk(torch.autograd.grad(H.sum(), x, create_graph=True)[0], 2, dim=-1)
        return torch.cat([dHdp, -dHdq - self.damping(q) * dHdp], dim=-1)


def simulate(cfg):
    """A stiffening mooring line and quadratic drag, explicit Euler with small steps."""
    rng = np.random.default_rng(cfg.seed)
    x = rng.normal(0, 0.6, (cfg.samples, 2 * cfg.dof))
    k = np.array([1.3, 0.7])
    states, rates = [], []
    for _ in range(20):
        q, p = x[:, : cfg.dof], x[:, cfg.dof:]
        dx = np.concatenate([p, -k * q - 0.4 * q**3 - 0.15 * np.abs(p) * p], axis=1)
        states.append(x.copy())
        rates.append(dx)
        x = x + 0.02 * dx
    pick = rng.permutation(20 * cfg.samples)[: cfg.samples]
    as_tensor = lambda rows: torch.tensor(np.concatenate(rows)[pick], dtype=torch.float32)
    return as_tensor(states), as_tensor(rates)


def train(cfg):
    torch.manual_seed(cfg.seed)
    x_all, dx_all = simulate(cfg)
    loader = torch.utils.data.DataLoader(
        torch.utils.data.TensorDataset(x_all, dx_all), batch_size=cfg.batch, shuffle=True)
    model = PortHamiltonian(cfg.dof, cfg.hidden)
    optim = torch.optim.Adam(model.parameters(), cfg.lr, weight_decay=1e-5)
    for epoch in range(cfg.epochs):
        total = 0.0
        for x, dx in loader:
            dx_hat = model.time_derivative(x)
            loss = (dx - dx_hat).pow(2).mean()
            optim.zero_grad()
            loss.backward()
            optim.step()
            total += loss.item() * len(x)
        print(f"epoch {epoch} mse {total / len(x_all):.5f}")
    return model


if __name__ == "__main__":
    train(Config())
