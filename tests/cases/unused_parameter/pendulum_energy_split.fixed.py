"""A pendulum's energy is learnt; the state is split behind the forward."""
import torch
from torch import nn


class Energy(nn.Module):
    def __init__(self):
        super().__init__()
        self.body = nn.Sequential(nn.Linear(2, 24), nn.Softplus(), nn.Linear(24, 1))

    def flow(self, state):
        state.requires_grad_()
        energy = self.body(state)
        angle, momentum = state.split(1, dim=1)
        d_angle, d_momentum = torch.autograd.grad(energy.sum(), state, create_graph=True)[0].split(1, dim=1)
        return torch.cat([d_momentum, -d_angle], dim=1)


def swing(states):
    return torch.cat([states[:, 1:], -torch.sin(states[:, :1])], dim=1)


def fit(model, states):
    optimizer = torch.optim.SGD(model.parameters(), lr=0.05)
    for epoch in range(12):
        rates = model.flow(states.clone())
        loss = (rates - swing(states)).abs().mean()
        optimizer.zero_grad()
        loss.backward()
        optimizer.step()
        print(epoch, round(loss.item(), 4))


torch.manual_seed(6)
fit(Energy(), 2 * torch.rand(40, 2) - 1)
