# expect: pattern = none
# expect: raises = nothing
"""Viscous Burgers' equation with unknown viscosity: Adam first, then L-BFGS on fixed points."""
import math

import numpy as np
import torch
from torch import nn


class Solution(nn.Module):
    def __init__(self, width=20, depth=3):
        super().__init__()
        sizes = [2] + [width] * depth + [1]
        self.layers = nn.ModuleList(nn.Linear(a, b) for a, b in zip(sizes[:-1], sizes[1:]))
        self.log_nu = nn.Parameter(torch.tensor(-3.0))

    def forward(self, t, x):
        h = torch.stack([t, x], dim=-1)
        for layer in self.layers[:-1]:
            h = torch.tanh(layer(h))
        return self.layers[-1](h).squeeze(-1)


def derivative(y, wrt):
    return torch.autograd.grad(y, wrt, torch.ones_like(y), create_graph=True)[0]


def residual(model, t, x):
    t = t.detach().requires_grad_(True)
    x = x.detach().requires_grad_(True)
    u = model(t, x)
    u_t, u_x = derivative(u, t), derivative(u, x)
    return u_t + u * u_x - model.log_nu.exp() * derivative(u_x, x)


class Points:
    """Collocation points; the worst of a larger draw are kept from time to time."""

    def __init__(self, n):
        self.n = n
        self.t, self.x = self.draw(n)

    @staticmethod
    def draw(n):
        return torch.rand(n), torch.rand(n) * 2 - 1

    def refine(self, model):
        t, x = self.draw(4 * self.n)
        score = residual(model, t, x).abs().detach().numpy()
        worst = torch.from_numpy(np.argsort(-score)[: self.n].copy())
        self.t, self.x = t[worst], x[worst]


class Problem:
    def __init__(self, n_points=60, n_data=40):
        self.model = Solution()
        self.points = Points(n_points)
        self.x0 = torch.linspace(-1, 1, n_data)
        self.u0 = -torch.sin(math.pi * self.x0)
        self.wall_t = torch.rand(n_data)
        self.history = {"pde": [], "data": []}

    def loss(self):
        pde = residual(self.model, self.points.t, self.points.x).pow(2).mean()
        start = (self.model(torch.zeros_like(self.x0), self.x0) - self.u0).pow(2).mean()
        walls = sum(self.model(self.wall_t, torch.full_like(self.wall_t, side)).pow(2).mean() for side in (-1.0, 1.0))
        self.history["pde"].append(pde.item())
        self.history["data"].append((start + walls).item())
        return pde + 10.0 * start + walls

    def adam(self, steps, refine_every):
        optimizer = torch.optim.Adam(self.model.parameters(), lr=5e-3)
        for step in range(1, steps + 1):
            optimizer.zero_grad()
            self.loss().backward()
            optimizer.step()
            if step % refine_every == 0:
                self.points.refine(self.model)

    def lbfgs(self, rounds):
        optimizer = torch.optim.LBFGS(self.model.parameters(), lr=0.5, max_iter=4, line_search_fn="strong_wolfe")

        def closure():
            optimizer.zero_grad()
            loss = self.loss()
            loss.backward()
            return loss

        for _ in range(rounds):
            optimizer.step(closure)


def main():
    torch.manual_seed(31)
    problem = Problem()
    problem.adam(steps=20, refine_every=10)
    print(f"after Adam:   pde {problem.history['pde'][-1]:.4f} data {problem.history['data'][-1]:.4f}")
    problem.lbfgs(rounds=3)
    print(f"after L-BFGS: pde {problem.history['pde'][-1]:.4f} data {problem.history['data'][-1]:.4f}")
    print(f"viscosity {problem.model.log_nu.exp().item():.4f}")


if __name__ == "__main__":
    main()
