"""Grey-box model of a greenhouse: first-order heat balance with a small learned correction."""
import math

import torch
from torch import nn


class GreenhouseModel(nn.Module):
    def __init__(self, n_controls, dt=0.1):
        super().__init__()
        self.dt = dt
        self.log_tau = nn.Parameter(torch.tensor(0.0))
        self.solar_gain = nn.Parameter(torch.tensor(0.5))
        self.correction = nn.Sequential(nn.Linear(n_controls + 1, 12), nn.Tanh(), nn.Linear(12, 1))

    def forward(self, t_in, outside, solar, controls):
        decay = torch.exp(-self.dt / torch.exp(self.log_tau.detach()))
        trajectory = []
        for k in range(outside.size(1)):
            extra = self.correction(torch.cat([t_in.unsqueeze(1), controls[:, k]], dim=1)).squeeze(1)
            drive = outside[:, k] + self.solar_gain * solar[:, k] + extra
            t_in = decay * t_in + (1.0 - decay) * drive
            trajectory.append(t_in)
        return torch.stack(trajectory, dim=1)


def simulate(n_days, steps, n_controls, tau=0.4, gain=1.2, dt=0.1):
    outside = torch.randn(n_days, 1) + 0.3 * torch.randn(n_days, steps).cumsum(1) / 3
    solar = torch.rand(n_days, steps)
    controls = torch.rand(n_days, steps, n_controls)
    t0 = torch.randn(n_days)
    a = math.exp(-dt / tau)
    t, out = t0, []
    for k in range(steps):
        t = a * t + (1 - a) * (outside[:, k] + gain * solar[:, k] - 0.8 * controls[:, k, 0])
        out.append(t)
    return t0, outside, solar, controls, torch.stack(out, 1) + 0.02 * torch.randn(n_days, steps)


def fit(model, data, epochs=15, batch=16):
    optimizer = torch.optim.Adam([
        {"params": [model.log_tau, model.solar_gain], "lr": 2e-2},
        {"params": model.correction.parameters(), "lr": 3e-3},
    ])
    t0, outside, solar, controls, measured = data
    for epoch in range(epochs):
        for idx in torch.randperm(len(t0)).split(batch):
            pred = model(t0[idx], outside[idx], solar[idx], controls[idx])
            loss = nn.functional.mse_loss(pred, measured[idx])
            optimizer.zero_grad()
            loss.backward()
            optimizer.step()
        if epoch % 5 == 0 or epoch == epochs - 1:
            print(f"epoch {epoch:2d} loss {loss.item():.4f} "
                  f"tau {model.log_tau.exp().item():.3f} gain {model.solar_gain.item():.3f}")


if __name__ == "__main__":
    torch.manual_seed(12)
    fit(GreenhouseModel(n_controls=2), simulate(48, 12, 2))
