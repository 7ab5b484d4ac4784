"""Mixture with a stochastic gate; the gate network is meant to learn from the prediction loss."""
import torch
import torch.nn as nn
from torch.distributions import Normal


class GateNet(nn.Module):
    def __init__(self, n_in):
        super().__init__()
        self.loc = nn.Linear(n_in, 1)
        self.log_scale = nn.Linear(n_in, 1)

    def forward(self, x):
        dist = Normal(self.loc(x), self.log_scale(x).clamp(-4, 1).exp())
        return torch.sigmoid(dist.mean)


class GatedExperts(nn.Module):
    def __init__(self, n_in=3, width=12):
        super().__init__()
        self.gate = GateNet(n_in)
        self.left = nn.Sequential(nn.Linear(n_in, width), nn.Tanh(), nn.Linear(width, 1))
        self.right = nn.Sequential(nn.Linear(n_in, width), nn.Tanh(), nn.Linear(width, 1))

    def forward(self, x):
        g = self.gate(x)
        return g * self.left(x) + (1 - g) * self.right(x)


def batch(gen, n=32):
    x = torch.randn(n, 3, generator=gen)
    y = torch.where(x[:, :1] > 0, x[:, 1:2] * 2, -x[:, 2:] + 1)
    return x, y


def total_norm(module):
    grads = [p.grad for p in module.parameters() if p.grad is not None]
    return sum(g.pow(2).sum().item() for g in grads) ** 0.5


def train(steps=12):
    torch.manual_seed(64)
    gen = torch.Generator().manual_seed(64)
    model = GatedExperts()
    optimizer = torch.optim.Adam(model.parameters(), lr=0.02)
    for step in range(steps):
        x, y = batch(gen)
        loss = (model(x) - y).pow(2).mean()
        optimizer.zero_grad()
        loss.backward()
        optimizer.step()
        if step % 4 == 0:
            print("step %d loss %.4f gate grad %.4f" % (step, loss.item(), total_norm(model.gate)))


train()
