"""1-D magnetotelluric inversion: resistivity of layers from apparent resistivity and phase.

Smooth (Occam-like) model of ten layers, misfit in log10 apparent resistivity and phase, LBFGS.
"""
import math
from dataclasses import dataclass, field

import numpy as np
import torch

torch.set_default_dtype(torch.float64)
MU0 = 4e-7 * math.pi


@dataclass
class Earth:
    """Logs of resistivity (ohm m) and of the thickness (m) of all layers but the half-space."""

    log_rho: torch.Tensor
    log_h: torch.Tensor
    names: list = field(default_factory=lambda: ["log_rho", "log_h"])

    @classmethod
    def uniform(cls, layers, rho, first, growth):
        h = first * growth ** np.arange(layers - 1)
        return cls(torch.full((layers,), math.log(rho)).requires_grad_(),
                   torch.from_numpy(np.log(h)).requires_grad_())

    def parameters(self):
        return [getattr(self, name) for name in self.names]


def impedance(log_rho, log_h, omega):
    """Wait's recursion, upwards from the half-space."""
    iwm = 1j * omega * MU0
    k = torch.sqrt(iwm[:, None] * torch.exp(-log_rho)[None, :].to(torch.complex128))
    z = iwm / k[:, -1]
    h = torch.exp(log_h)
    for j in range(len(log_h) - 1, -1, -1):
        own = iwm / k[:, j]
        r = (own - z) / (own + z)
        e = torch.exp(-2 * k[:, j] * h[j])
        z = own * (1 - r * e) / (1 + r * e)
    return z


def response(log_rho, log_h, omega):
    z = impedance(log_rho, log_h, omega)
    rho_a = z.abs() ** 2 / (omega * MU0)
    return torch.log10(rho_a), torch.atan2(z.imag, z.real)


def sounding(omega, noise, seed):
    """Overburden, aquifer, resistive basement with a conductor below."""
    rng = np.random.default_rng(seed)
    true_rho = torch.tensor([80.0, 12.0, 900.0, 40.0]).log()
    true_h = torch.tensor([150.0, 400.0, 6000.0]).log()
    with torch.no_grad():
        app, phase = response(true_rho, true_h, omega)
    app = app + noise * torch.from_numpy(rng.standard_normal(len(omega)))
    phase = phase + noise * torch.from_numpy(rng.standard_normal(len(omega)))
    return app, phase


def invert(earth, omega, data, noise, tau=0.6, outer=12):
    app, phase = data
    start_h = earth.log_h.detach().clone()
    optimizer = torch.optim.LBFGS(earth.parameters(), max_iter=6, history_size=8,
                                  line_search_fn="strong_wolfe")
    trail = []

    def misfit():
        a, p = response(earth.log_rho, earth.log_h, omega)
        return (((a - app) / noise) ** 2).mean() + (((p - phase) / noise) ** 2).mean()

    def closure():
        optimizer.zero_grad()
        rough = earth.log_rho.diff().pow(2).sum() + 4 * (earth.log_h - start_h).pow(2).sum()
        loss = misfit() + tau * rough
        loss.backward()
        return loss

    for it in range(outer):
        loss = optimizer.step(closure)
        with torch.no_grad():
            trail.append((loss.item(), misfit().item() / 2))
        if it % 3 == 2:
            print(f"it {it + 1:2d}  objective {trail[-1][0]:9.3f}  chi2 {trail[-1][1]:9.3f}")
    return trail


def column(earth):
    tops = np.concatenate([[0.0], np.cumsum(np.exp(earth.log_h.detach().numpy()))])
    rho = np.exp(earth.log_rho.detach().numpy())
    return "\n".join(f"  from {top:8.0f} m  {r:8.1f} ohm m" for top, r in zip(tops, rho))


def main():
    torch.manual_seed(0)
    omega = 2 * math.pi * torch.logspace(3, -2, 24)
    noise = 0.03
    data = sounding(omega, noise, seed=7)
    earth = Earth.uniform(layers=10, rho=100.0, first=60.0, growth=1.8)
    invert(earth, omega, data, noise)
    print(column(earth))


if __name__ == "__main__":
    main()
