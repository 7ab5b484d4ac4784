"""The energy of a clock's pendulum from its swings: a Hamiltonian network."""
import math

import torch
from torch import nn


class Hamiltonian(nn.Module):
    def __init__(self, width=24):
        super().__init__()
        self.net = nn.Sequential(nn.Linear(2, width), nn.Tanh(), nn.Linear(width, width), nn.Tanh(), nn.Linear(width, 1))

    def forward(self, state):
        return self.net(state).squeeze(-1)


class SymplecticField:
    def __init__(self, energy_of):
        self.energy_of = energy_of

    def __call__(self, state):
        state = state.detach().requires_grad_(True)
        H = self.energy_of(state)
        slope, = torch.autograd.grad(H.sum(), state, create_graph=True)
        dq, dp = slope[..., 1], -slope[..., 0]
        return torch.stack([dq, dp], dim=-1), H


def swings(count, length):
    """Exact small swings: states along each, and how fast they change."""
    size = 0.3 + torch.rand(count, 1)
    at = 2 * math.pi * torch.rand(count, 1) + torch.linspace(0, 2, length)
    q, p = size * torch.cos(at), -size * torch.sin(at)
    return torch.stack([q, p], -1), torch.stack([p, -q], -1)


def objective(field, states, rates, weight=0.1):
    flow, energy = field(states)
    misfit = (flow - rates).pow(2).mean()
    kept = energy.var(dim=1).mean()
    return misfit + weight * kept, misfit


def train(steps=25):
    torch.manual_seed(31)
    model = Hamiltonian()
    field = SymplecticField(model)
    opt = torch.optim.Adam(model.parameters(), lr=0.01)
    for step in range(steps):
        states, rates = swings(8, 10)
        loss, misfit = objective(field, states, rates)
        opt.zero_grad()
        loss.backward()
        opt.step()
        if step % 5 == 0:
            print(step, round(misfit.item(), 4))


train()
