"""Methane that leaves a bog: Michaelis-Menten oxidation whose constants are learned together with
a small net that tells production from the water table and the plants.
"""
import math

import torch
import torch.nn.functional as F
from torch import nn


class Oxidation(nn.Module):
    """Uptake by the methanotrophs; constants are kept as logarithms so that they stay positive."""

    def __init__(self, vmax=1.0, km=1.0, q10=1.5):
        super().__init__()
        self.vmax_log = nn.Parameter(torch.tensor(math.log(vmax)))
        self.km_log = nn.Parameter(torch.tensor(math.log(km)))
        self.q10_log = nn.Parameter(torch.tensor(math.log(q10)))

    def constants(self):
        return nn.Parameter(torch.stack([self.vmax_log, self.km_log, self.q10_log])).exp()

    def forward(self, methane, temperature):
        vmax, km, q10 = self.constants()
        warm = q10 ** ((temperature - 10.0) / 10.0)
        return vmax * warm * methane / (km + methane)


class Bog(nn.Module):
    def __init__(self, n_site=3, width=12, layers=4):
        super().__init__()
        self.production = nn.Sequential(nn.Linear(n_site, width), nn.Tanh(), nn.Linear(width, layers))
        self.oxidation = Oxidation()
        self.layers = layers

    def forward(self, site, temperature, steps=6, dt=0.2):
        made = F.softplus(self.production(site))
        store = torch.zeros_like(made)
        flux = torch.zeros(len(site))
        for _ in range(steps):
            rise = 0.5 * store
            below = F.pad(rise[:, :-1], (1, 0))
            store = store + dt * (made + below - rise - self.oxidation(store, temperature[:, None]))
            store = store.clamp_min(0.0)
            flux = flux + dt * rise[:, -1]
        return flux


def chambers(n):
    """Chamber measurements, from a bog that we know."""
    site = torch.randn(n, 3)
    temperature = 4 + 16 * torch.rand(n)
    truth = Bog()
    truth.oxidation = Oxidation(2.5, 0.4, 2.4)
    with torch.no_grad():
        truth.production[2].bias.fill_(3.0)
        flux = truth(site, temperature)
    return site, temperature, flux * (1 + 0.03 * torch.randn(n))


def param_groups(model):
    slow = list(model.oxidation.parameters())
    return [{"params": model.production.parameters(), "lr": 1e-2}, {"params": slow, "lr": 3e-2}]


def main():
    torch.manual_seed(15)
    site, temperature, flux = chambers(80)
    fit, check = slice(0, 60), slice(60, 80)
    model = Bog()
    optimizer = torch.optim.Adam(param_groups(model))
    best, kept = float("inf"), None
    for epoch in range(1, 61):
        model.train()
        optimizer.zero_grad()
        loss = F.mse_loss(model(site[fit], temperature[fit]), flux[fit])
        loss.backward()
        optimizer.step()
        model.eval()
        with torch.no_grad():
            error = F.mse_loss(model(site[check], temperature[check]), flux[check]).item()
        if error < best:
            best, kept = error, {k: v.clone() for k, v in model.state_dict().items()}
        if epoch % 20 == 0:
            print(f"epoch {epoch:3d}  fit {loss.item():.4f}  check {error:.4f}")
    model.load_state_dict(kept)
    print("vmax, km, q10:", [round(c, 3) for c in model.oxidation.constants().tolist()])


if __name__ == "__main__":
    main()
