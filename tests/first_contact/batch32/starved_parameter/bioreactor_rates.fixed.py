"""Hybrid model of a fed bioreactor: Monod kinetics with three unknown constants, plus a small
network for what the kinetics leave out. Everything is fitted to the measured trajectories."""
import torch
from torch import nn


class Kinetics(nn.Module):
    def __init__(self):
        super().__init__()
        self.mu_max = nn.Parameter(torch.tensor(0.2))
        self.k_s = nn.Parameter(torch.tensor(1.0))
        self.yield_x = nn.Parameter(torch.tensor(0.7))

    def constants(self):
        return torch.stack([self.mu_max, self.k_s, self.yield_x]).abs()

    def forward(self, state):
        mu_max, k_s, yield_x = self.constants()
        biomass, sugar = state[..., 0], state[..., 1].clamp(min=0)
        growth = mu_max * sugar / (k_s + sugar) * biomass
        return torch.stack([growth, -growth / yield_x], dim=-1)


class Hybrid(nn.Module):
    def __init__(self):
        super().__init__()
        self.kinetics = Kinetics()
        self.rest = nn.Sequential(nn.Linear(2, 10), nn.Tanh(), nn.Linear(10, 2))
        nn.init.zeros_(self.rest[2].weight)
        nn.init.zeros_(self.rest[2].bias)

    def forward(self, state):
        return self.kinetics(state) + 0.05 * self.rest(state)


def simulate(rhs, start, steps, dt=0.25):
    path = [start]
    for _ in range(steps):
        half = path[-1] + 0.5 * dt * rhs(path[-1])
        path.append(path[-1] + dt * rhs(half))
    return torch.stack(path, dim=1)


def true_rhs(s):
    growth = 0.45 * s[..., 1] / (0.6 + s[..., 1]) * s[..., 0]
    return torch.stack([growth, -growth / 0.5], dim=-1)


def fit():
    torch.manual_seed(9)
    start = torch.rand(12, 2) * torch.tensor([0.3, 3.0]) + torch.tensor([0.1, 1.0])
    measured = simulate(true_rhs, start, 16)
    model = Hybrid()
    optimizer = torch.optim.Adam(
        [
            {"params": model.kinetics.parameters(), "lr": 2e-2},
            {"params": model.rest.parameters(), "lr": 3e-3},
        ]
    )
    for it in range(25):
        optimizer.zero_grad()
        loss = (simulate(model, start, 16) - measured).pow(2).mean()
        loss.backward()
        optimizer.step()
        if it % 8 == 0:
            k = model.kinetics
            print(f"{it:3d} {loss.item():.5f} mu {k.mu_max.item():.3f} Ks {k.k_s.item():.3f} Y {k.yield_x.item():.3f}")
    return model


if __name__ == "__main__":
    fit()
