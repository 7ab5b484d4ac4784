"""Which mosses cover a plot? Splits reflectance spectra of plots into shares and pure spectra.

Shares of a plot add up to one, reflectance lies between 0 and 1, the lamp's gain is free.
"""

import numpy as np
import torch

PLOTS, BANDS, KINDS = 40, 30, 3


def simulate(seed=2):
    rng = np.random.default_rng(seed)
    band = np.linspace(0, 1, BANDS)
    pure = np.stack([0.2 + 0.6 * np.exp(-(((band - c) / 0.2) ** 2)) for c in (0.2, 0.5, 0.85)])
    shares = rng.dirichlet([0.7] * KINDS, size=PLOTS)
    gain = 1 + 0.2 * np.sin(3 * band)
    seen = (shares @ pure) * gain + 0.005 * rng.standard_normal((PLOTS, BANDS))
    return torch.tensor(seen, dtype=torch.float32)


def onto_simplex(rows):
    ordered = rows.sort(dim=1, descending=True).values
    excess = (ordered.cumsum(1) - 1) / torch.arange(1, rows.shape[1] + 1)
    count = (ordered > excess).sum(1, keepdim=True)
    return (rows - excess.gather(1, count - 1)).clamp(min=0)


def feasible(name, value):
    if name == "shares":
        return onto_simplex(value)
    if name == "pure":
        return value.clamp(0, 1)
    return value


def misfit(theta, seen):
    return ((theta["shares"] @ theta["pure"]) * theta["gain"].exp() - seen).square().mean()


def unmix(seen, rounds):
    theta = {
        "shares": torch.full((PLOTS, KINDS), 1 / KINDS) + 0.05 * torch.randn(PLOTS, KINDS),
        "pure": 0.3 + 0.4 * torch.rand(KINDS, BANDS),
        "gain": torch.zeros(BANDS),
    }
    for value in theta.values():
        value.requires_grad_()
    optimizer = torch.optim.Adam(theta.values(), lr=0.02)
    for _ in range(rounds):
        loss = misfit(theta, seen)
        optimizer.zero_grad()
        loss.backward()
        optimizer.step()
        theta = {name: feasible(name, value) for name, value in theta.items()}
        yield loss.item(), theta


torch.manual_seed(4)
for number, (error, theta) in enumerate(unmix(simulate(), 60)):
    if number % 15 == 0:
        print(f"{number:3d} misfit {error:.5f}, first plot {theta['shares'][0].tolist()}")
