"""Algae, Daphnia and sticklebacks of a pond: rates of a three-level food web from monthly counts.

All rates must be positive, so the optimizer sees their softplus-inverses.
"""
import math
from typing import NamedTuple

import torch
import torch.nn.functional as F

LEVELS = ("algae", "daphnia", "stickleback")
DT, SUBSTEPS = 0.1, 5


class Web(NamedTuple):
    growth: torch.Tensor    # of the algae, and the crowding that ends it
    eaten: torch.Tensor     # level k by level k + 1
    death: torch.Tensor

    def slope(self, n):
        algae, daphnia, fish = n.unbind(-1)
        grazed = self.eaten[0] * algae * daphnia
        hunted = self.eaten[1] * daphnia * fish
        return torch.stack([
            algae * (self.growth[0] - self.growth[1] * algae) - grazed,
            0.5 * grazed - hunted - self.death[0] * daphnia,
            0.4 * hunted - self.death[1] * fish,
        ], -1)


def positive(raw):
    return Web(*(F.softplus(raw[name]) for name in Web._fields))


def rk4(f, n, h):
    k1 = f(n)
    k2 = f(n + h / 2 * k1)
    k3 = f(n + h / 2 * k2)
    k4 = f(n + h * k3)
    return n + h / 6 * (k1 + 2 * k2 + 2 * k3 + k4)


def simulate(web, start, months):
    n, path = start, [start]
    for _ in range(months - 1):
        for _ in range(SUBSTEPS):
            n = rk4(web.slope, n, DT)
        path.append(n)
    return torch.stack(path, -2)


def softplus_inverse(value):
    return math.log(math.expm1(value))


def pond_counts(ponds=3, months=7):
    truth = Web(torch.tensor([1.2, 0.3]), torch.tensor([0.8, 0.5]), torch.tensor([0.25, 0.15]))
    start = 0.5 + torch.rand(ponds, 3)
    clean = simulate(truth, start, months)
    return start, clean * torch.exp(0.05 * torch.randn_like(clean))


def fit(start, counts, guess, iterations=40, lr=0.05, patience=8):
    raw = {k: torch.full((2,), softplus_inverse(v), requires_grad=True) for k, v in guess.items()}
    optim = torch.optim.Adam(raw.values(), lr=lr)
    schedule = torch.optim.lr_scheduler.ReduceLROnPlateau(optim, factor=0.5, patience=patience)
    web = positive(raw)
    trace = []
    for it in range(iterations):
        optim.zero_grad()
        path = simulate(Web(*(r.clone() for r in web)), start, counts.shape[-2])
        misfit = F.mse_loss(torch.log(path.clamp_min(1e-3)), torch.log(counts))
        misfit.backward(retain_graph=it < iterations - 1)
        optim.step()
        schedule.step(misfit.item())
        trace.append(misfit.item())
    return {k: F.softplus(v).detach() for k, v in raw.items()}, trace


def main():
    torch.manual_seed(4)
    start, counts = pond_counts()
    best = None
    for scale in (0.3, 0.7):
        rates, trace = fit(start, counts, dict.fromkeys(Web._fields, scale))
        print(f"from {scale}: {trace[0]:.4f} -> {trace[-1]:.4f}")
        if best is None or trace[-1] < best[1]:
            best = rates, trace[-1]
    for name, value in best[0].items():
        print(f"{name:8s}", [round(v, 3) for v in value.tolist()])


main()
