# expect: pattern = grad-then-backward
# expect: raises = RuntimeError: Trying to backward through the graph a second time
# expect: carrier = parts, loss, total
"""Viscous Burgers on [-1, 1] x [0, 1] with learning-rate annealing of the boundary terms
(Wang, Teng & Perdikaris style: balance every term against the residual's gradient)."""
import math

import torch
from torch import nn

torch.manual_seed(1234)
NU = 0.01 / math.pi


class Tanhs(nn.Module):
    def __init__(self, widths):
        super().__init__()
        self.linears = nn.ModuleList(nn.Linear(a, b) for a, b in zip(widths[:-1], widths[1:]))

    def forward(self, x, t):
        z = torch.cat([x, t], dim=1)
        for lin in self.linears[:-1]:
            z = torch.tanh(lin(z))
        return self.linears[-1](z)


def d(y, x):
    return torch.autograd.grad(y, x, torch.ones_like(y), create_graph=True)[0]


class BurgersSolver:
    def __init__(self, widths=(2, 20, 20, 1), lr=2e-3, n_res=200, n_edge=40, anneal_every=5, beta=0.9):
        self.net = Tanhs(widths)
        self.opt = torch.optim.Adam(self.net.parameters(), lr=lr)
        self.n_res, self.n_edge = n_res, n_edge
        self.anneal_every, self.beta = anneal_every, beta
        self.lam = {"ic": torch.tensor(1.0), "bc": torch.tensor(1.0)}
        self.log = []

    # ---------------------------------------------------------------- terms
    def residual(self):
        x = (2 * torch.rand(self.n_res, 1) - 1).requires_grad_()
        t = torch.rand(self.n_res, 1).requires_grad_()
        u = self.net(x, t)
        u_x = d(u, x)
        return (d(u, t) + u * u_x - NU * d(u_x, x)).pow(2).mean()

    def initial(self):
        x = 2 * torch.rand(self.n_edge, 1) - 1
        return (self.net(x, torch.zeros_like(x)) + torch.sin(math.pi * x)).pow(2).mean()

    def boundary(self):
        t = torch.rand(self.n_edge, 1)
        side = torch.where(torch.rand_like(t) < 0.5, -1.0, 1.0)
        return self.net(side, t).pow(2).mean()

    # ------------------------------------------------------------ balancing
    def flat_grad(self, loss):
        grads = torch.autograd.grad(loss, list(self.net.parameters()))  # expect: place
        return torch.cat([g.flatten() for g in grads])

    def anneal(self, parts):
        top = self.flat_grad(parts["res"]).abs().max()  # expect: place
        for name in self.lam:
            ratio = top / self.flat_grad(parts[name]).abs().mean()  # expect: place
            self.lam[name] = self.beta * self.lam[name] + (1 - self.beta) * ratio

    # ------------------------------------------------------------- training
    def step(self, it):
        parts = {"res": self.residual(), "ic": self.initial(), "bc": self.boundary()}
        if it and it % self.anneal_every == 0:
            self.anneal(parts)  # expect: place
            parts = {"res": self.residual(), "ic": self.initial(), "bc": self.boundary()}
        total = parts["res"] + sum(self.lam[k] * parts[k] for k in self.lam)
        self.opt.zero_grad()
        total.backward()  # expect: place
        self.opt.step()
        self.log.append({k: v.item() for k, v in parts.items()})

    def fit(self, iterations):
        for it in range(iterations):
            self.step(it)
        return self.log


if __name__ == "__main__":
    solver = BurgersSolver()
    history = solver.fit(30)
    last = history[-1]
    print(" ".join(f"{k}={v:.3e}" for k, v in last.items()))
    print({k: round(float(v), 3) for k, v in solver.lam.items()})
