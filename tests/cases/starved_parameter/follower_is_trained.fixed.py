"""A copy of a pretrained pressure model goes on with today's data."""
import copy

import torch
from torch import nn


def pressures(count):
    x = torch.rand(count, 5)
    return x, (x * torch.tensor([1.0, -2.0, 0.5, 3.0, -1.0])).sum(1, keepdim=True).sin()


def rmse(model, x, y):
    with torch.no_grad():
        return (model(x) - y).square().mean().sqrt().item()


torch.manual_seed(7)
leader = nn.Sequential(nn.Linear(5, 16), nn.Tanh(), nn.Linear(16, 1))
follower = copy.deepcopy(leader)
optimizer = torch.optim.Adam(follower.parameters(), lr=1e-2)
held_out = pressures(64)

for step in range(60):
    x, y = pressures(32)
    loss = (follower(x) - y).square().mean()
    optimizer.zero_grad()
    loss.backward()
    optimizer.step()
    if step % 20 == 19:
        print(step, rmse(leader, *held_out), rmse(follower, *held_out))
