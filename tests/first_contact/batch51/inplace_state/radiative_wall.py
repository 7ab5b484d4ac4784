# expect: pattern = inplace-state
# expect: raises = RuntimeError: one of the variables needed for gradient computation has been modified by an inplace operation
# expect: carrier = T
"""Recover the conductivity profile of a furnace wall from thermocouples.

Explicit finite volumes in one dimension, conductivity k(x) from a small network, radiative
transport in the hot layer (flux ~ difference of fourth powers). Dimensionless units.
"""
import torch
from torch import nn


class Profile(nn.Module):
    """k(x) > 0 on cell faces."""

    def __init__(self, width=16):
        super().__init__()
        self.body = nn.Sequential(nn.Linear(1, width), nn.Tanh(), nn.Linear(width, width), nn.Tanh(), nn.Linear(width, 1))

    def forward(self, x):
        return 0.2 + nn.functional.softplus(self.body(x)).squeeze(-1)


class WallSolver:
    def __init__(self, n_cells=24, n_steps=60, dt=2.5e-4, emissivity=0.15):
        self.n, self.steps, self.dt = n_cells, n_steps, dt
        self.dx = 1.0 / n_cells
        self.emissivity = emissivity
        centres = (torch.arange(n_cells) + 0.5) * self.dx
        self.faces = ((centres[1:] + centres[:-1]) / 2).unsqueeze(1)

    def flux(self, k, now):
        conduction = k * (now[1:] - now[:-1]) / self.dx
        radiation = self.emissivity * (now[1:] ** 4 - now[:-1] ** 4) / self.dx
        return conduction + radiation

    def run(self, k, initial, hot):
        T = torch.zeros(self.steps + 1, self.n)
        T[0] = initial
        for n in range(self.steps):
            now = T[n]  # expect: place
            q = self.flux(k, now)
            T[n + 1, 1:-1] = now[1:-1] + self.dt / self.dx * (q[1:] - q[:-1])  # expect: place
            T[n + 1, 0] = hot[n]  # expect: place
            T[n + 1, -1] = now[-1] - self.dt / self.dx * q[-1]  # expect: place
        return T


class Inversion:
    def __init__(self, solver, sensors, readings, initial, hot, lr=1e-2, smooth=1e-3):
        self.solver, self.sensors, self.readings = solver, sensors, readings
        self.initial, self.hot, self.smooth = initial, hot, smooth
        self.profile = Profile()
        self.optimizer = torch.optim.Adam(self.profile.parameters(), lr=lr)
        self.history = []

    def misfit(self):
        k = self.profile(self.solver.faces)
        field = self.solver.run(k, self.initial, self.hot)
        data = ((field[1:, self.sensors] - self.readings) ** 2).mean()
        rough = (k[2:] - 2 * k[1:-1] + k[:-2]).pow(2).mean()
        return 1e3 * data + self.smooth * rough, k

    def fit(self, iterations, report=10):
        for it in range(iterations):
            self.optimizer.zero_grad()
            value, k = self.misfit()
            value.backward()  # expect: place
            self.optimizer.step()
            self.history.append(value.item())
            if it % report == 0:
                print(f"{it:4d}  misfit {value.item():.5f}  k in [{k.min().item():.3f}, {k.max().item():.3f}]")
        return self.history


def synthetic(solver, noise=2e-3):
    x = solver.faces.squeeze(1)
    k_true = 0.5 + 0.9 * torch.sigmoid(12 * (x - 0.45))
    initial = torch.full((solver.n,), 0.3)
    initial[0] = 1.0
    hot = 1.0 + 0.2 * torch.sin(torch.linspace(0, 6, solver.steps))
    with torch.no_grad():
        field = solver.run(k_true, initial, hot)
    sensors = torch.tensor([1, 2, 4, 7, 11, 16])
    clean = field[1:, sensors]
    return sensors, clean + noise * torch.randn_like(clean), initial, hot


if __name__ == "__main__":
    torch.manual_seed(5)
    solver = WallSolver()
    job = Inversion(solver, *synthetic(solver))
    history = job.fit(60)
    print("first", round(history[0], 4), "last", round(history[-1], 4))
