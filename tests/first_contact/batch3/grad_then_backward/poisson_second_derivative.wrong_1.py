"""Physics-informed net for u'' = -pi^2 sin(pi x) on [0, 1] with u(0) = u(1) = 0."""
import math
from typing import NamedTuple

import torch
import torch.nn as nn
from torch.autograd import grad


class Terms(NamedTuple):
    residual: torch.Tensor
    boundary: torch.Tensor

    def total(self, weight=10.0):
        return self.residual + weight * self.boundary


class Sine(nn.Module):
    def forward(self, x):
        return torch.sin(x)


def make_net(width=24):
    return nn.Sequential(nn.Linear(1, width), Sine(), nn.Linear(width, width), Sine(), nn.Linear(width, 1))


def derivative(y, x, **kw):
    return grad(y, x, torch.ones_like(y), **kw)[0]


class Poisson:
    def __init__(self, net, source):
        self.net, self.source = net, source
        self.ends = torch.tensor([[0.0], [1.0]])

    def terms(self, n):
        x = torch.rand(n, 1, requires_grad=True)
        u = self.net(x)
        du = derivative(u, x, create_graph=True)
        d2u = derivative(du, x, retain_graph=True)
        residual = (d2u - self.source(x)).pow(2).mean() + 1e-2 * du.mean().pow(2)
        return Terms(residual, self.net(self.ends).pow(2).mean())


def error(net):
    with torch.no_grad():
        x = torch.linspace(0, 1, 50)[:, None]
        return (net(x) - torch.sin(math.pi * x)).abs().max().item()


def solve(iterations=10):
    torch.manual_seed(55)
    net = make_net()
    problem = Poisson(net, lambda x: -math.pi ** 2 * torch.sin(math.pi * x))
    optimizer = torch.optim.Adam(net.parameters(), lr=5e-3)
    for i in range(iterations):
        loss = problem.terms(40).total()
        optimizer.zero_grad()
        loss.backward()
        optimizer.step()
        if i % 3 == 0:
            print(i, "loss %.4f" % loss.item(), "error %.4f" % error(net))


if __name__ == "__main__":
    solve()
