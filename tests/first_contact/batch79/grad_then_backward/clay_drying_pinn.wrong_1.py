"""How a clay slab dries: a physics-informed net for diffusion of moisture through its depth.

The weights of the boundary and initial terms follow the sizes of their gradients.
"""
import math

import torch
from torch import nn


class Moisture(nn.Module):
    def __init__(self, width=24, depth=3):
        super().__init__()
        sizes = [2] + [width] * depth + [1]
        self.layers = nn.ModuleList(nn.Linear(a, b) for a, b in zip(sizes, sizes[1:]))

    def forward(self, z, t):
        h = torch.stack((z, t), -1)
        for layer in self.layers[:-1]:
            h = torch.tanh(layer(h))
        return self.layers[-1](h).squeeze(-1)


def diff(y, x):
    return torch.autograd.grad(y.sum(), x, create_graph=True)[0]


class Drying:
    """Residual, faces and start of u_t = D u_zz on [0, 1] x [0, 1]."""

    def __init__(self, net, diffusivity=0.15, n=48):
        self.net, self.diffusivity, self.n = net, diffusivity, n

    def residual(self):
        z = torch.rand(self.n, requires_grad=True)
        t = torch.rand(self.n, requires_grad=True)
        u = self.net(z, t)
        return (diff(u, t) - self.diffusivity * diff(diff(u, z), z)).pow(2).mean()

    def faces(self):
        t = torch.rand(self.n)
        ends = torch.cat((self.net(torch.zeros(self.n), t), self.net(torch.ones(self.n), t)))
        return ends.pow(2).mean()

    def start(self):
        z = torch.rand(self.n)
        return (self.net(z, torch.zeros(self.n)) - torch.sin(math.pi * z)).pow(2).mean()

    def terms(self):
        return {"residual": self.residual(), "faces": self.faces(), "start": self.start()}


class GradientBalance:
    """Keep every term's gradient about as large as that of the reference term."""

    def __init__(self, params, reference, momentum=0.9, cap=30.0):
        self.params = list(params)
        self.reference, self.momentum, self.cap = reference, momentum, cap
        self.weights = {}

    def _sizes(self, loss):
        grads = torch.autograd.grad(loss, self.params, create_graph=True, allow_unused=True)
        return torch.cat([g.flatten().abs() for g in grads if g is not None])

    def refresh(self, terms):
        peak = self._sizes(terms[self.reference]).max()
        for name, loss in terms.items():
            if name == self.reference:
                continue
            wanted = peak / (self._sizes(loss).mean() + 1e-8)
            old = self.weights.get(name, torch.ones(()))
            self.weights[name] = self.momentum * old + (1 - self.momentum) * wanted.clamp(max=self.cap)

    def combine(self, terms):
        return sum(self.weights.get(name, 1.0) * loss for name, loss in terms.items())


def main():
    torch.manual_seed(51)
    net = Moisture()
    problem = Drying(net)
    balance = GradientBalance(net.parameters(), reference="residual")
    optimizer = torch.optim.Adam(net.parameters(), lr=3e-3)
    for step in range(90):
        terms = problem.terms()
        if step % 10 == 0:
            balance.refresh(terms)
        total = balance.combine(terms)
        optimizer.zero_grad()
        total.backward()
        optimizer.step()
        if step % 30 == 29:
            print(step + 1, {name: round(loss.item(), 4) for name, loss in terms.items()})


if __name__ == "__main__":
    main()
