"""Equation of state for a refrigerant blend, from one learned Helmholtz energy a(T, v).

Pressure, entropy and heat capacity are all derivatives of `a`, so they are consistent by
construction; the measured tables have pressure and heat capacity.
"""
import math

import torch
import torch.nn as nn


def partial(y, wrt, *, final=False):
    """dy/dwrt for each row. `final`: nothing is derived from the result any more."""
    (slope,) = torch.autograd.grad(y.sum(), wrt, create_graph=not final, retain_graph=True)
    return slope


class Helmholtz(nn.Module):
    def __init__(self, width=24):
        super().__init__()
        self.residual = nn.Sequential(
            nn.Linear(2, width), nn.Softplus(beta=2), nn.Linear(width, width), nn.Softplus(beta=2),
            nn.Linear(width, 1),
        )
        self.log_cv0 = nn.Parameter(torch.tensor(0.0))

    def energy(self, T, v):
        ideal = -T * torch.log(v) - self.log_cv0.exp() * T * (torch.log(T) - 1)
        return ideal + 0.2 * self.residual(torch.stack([1 / T, 1 / v], dim=-1)).squeeze(-1)

    def forward(self, T, v):
        T = T.detach().requires_grad_()
        v = v.detach().requires_grad_()
        a = self.energy(T, v)
        p = -partial(a, v)
        s = -partial(a, T)
        cv = T * partial(s, T, final=True)
        return {"p": p, "s": s, "u": a + T * s, "cv": cv}


def van_der_waals(T, v, alpha=0.45, beta=0.12, cv=2.4):
    return T / (v - beta) - alpha / v ** 2, cv + 0.3 * torch.sin(3 * T)


class Fit:
    weights = {"p": 1.0, "cv": 0.5}

    def __init__(self, model, lr=6e-3):
        self.model = model
        self.opt = torch.optim.Adam(model.parameters(), lr=lr)

    def table(self, n=64):
        T = 0.8 + 0.6 * torch.rand(n)
        v = torch.exp(math.log(0.5) + 1.5 * torch.rand(n))
        p, cv = van_der_waals(T, v)
        return T, v, {"p": p, "cv": cv}

    def round(self):
        T, v, measured = self.table()
        state = self.model(T, v)
        terms = {k: nn.functional.huber_loss(state[k], measured[k]) for k in measured}
        loss = sum(self.weights[k] * term for k, term in terms.items())
        self.opt.zero_grad()
        loss.backward()
        self.opt.step()
        return {k: term.item() for k, term in terms.items()}


if __name__ == "__main__":
    torch.manual_seed(134)
    fit = Fit(Helmholtz())
    for r in range(1, 81):
        terms = fit.round()
        if r % 16 == 0:
            print(r, " ".join(f"{k}={x:.4f}" for k, x in terms.items()))
