"""Universal differential equation for glucose and insulin: a known part and a learned part."""

import torch
import torch.nn as nn

DT = 0.25
N_STEPS = 24
N_STATES = 2  # glucose, insulin (deviation from the basal level)


def meal_rate(t, size, time):
    """Glucose that enters the blood at time t after a meal."""
    since = (t - time).clamp(min=0.0)
    return size * since * torch.exp(-since)


def true_field(x, u):
    g, i = x.unbind(dim=-1)
    uptake = 0.5 * i * torch.tanh(g + 1.0)
    return torch.stack([u - 0.3 * g - uptake, 0.6 * torch.relu(g) - 0.4 * i], dim=-1)


def simulate_patients(n, generator):
    x = 0.3 * torch.randn(n, N_STATES, generator=generator)
    meal = {
        "size": 1.0 + torch.rand(n, generator=generator),
        "time": 2.0 * torch.rand(n, generator=generator),
    }
    track = [x]
    for k in range(N_STEPS):
        u = meal_rate(torch.tensor(k * DT), **meal)
        x = x + DT * true_field(x, u)
        track.append(x)
    track = torch.stack(track, dim=1)
    return {
        "x0": track[:, 0],
        "meal": meal,
        "cgm": track[..., 0] + 0.05 * torch.randn(n, N_STEPS + 1, generator=generator),
    }


class HybridField(nn.Module):
    """dx/dt = clearance (two rates to be fitted) + whatever the network finds."""

    def __init__(self, width=24):
        super().__init__()
        self.log_rates = nn.Parameter(torch.tensor([-1.0, -1.0]))
        self.net = nn.Sequential(
            nn.Linear(N_STATES + 1, width), nn.Tanh(), nn.Linear(width, N_STATES)
        )
        nn.init.normal_(self.net[-1].weight, std=0.1)
        nn.init.zeros_(self.net[-1].bias)

    def forward(self, x, u):
        intake = torch.stack([u, torch.zeros_like(u)], dim=-1)
        learned = self.net(torch.cat([x, u.unsqueeze(-1)], dim=-1))
        return intake - self.log_rates.exp() * x + learned


class Integrator(nn.Module):
    """Heun's method on a fixed grid; returns the whole path, (batch, time, state)."""

    def __init__(self, field, dt, n_steps):
        super().__init__()
        self.field, self.dt, self.n_steps = field, dt, n_steps

    def forward(self, x0, meal):
        path = torch.zeros(x0.shape[0], self.n_steps + 1, x0.shape[1])
        path[:, 0] = x0
        for k in range(self.n_steps):
            t = torch.tensor(k * self.dt)
            state = path[:, k]
            k1 = self.field(state, meal_rate(t, **meal))
            k2 = self.field(state + self.dt * k1, meal_rate(t + self.dt, **meal))
            path.data[:, k + 1] = state + 0.5 * self.dt * (k1 + k2)
        return path


class PathLoss(nn.Module):
    def __init__(self, smooth=1e-3):
        super().__init__()
        self.smooth = smooth

    def forward(self, path, cgm):
        fit = (path[..., 0] - cgm).square().mean()
        bend = path[:, 2:] - 2 * path[:, 1:-1] + path[:, :-2]
        return fit + self.smooth * bend.square().mean()


def fit(model, criterion, patients, epochs):
    optimizer = torch.optim.Adam(model.parameters(), lr=1e-2)
    schedule = torch.optim.lr_scheduler.ExponentialLR(optimizer, 0.97)
    for epoch in range(epochs):
        path = model(patients["x0"], patients["meal"])
        loss = criterion(path, patients["cgm"])
        optimizer.zero_grad()
        loss.backward()
        nn.utils.clip_grad_norm_(model.parameters(), 5.0)
        optimizer.step()
        schedule.step()
        if epoch % 5 == 4:
            print(f"epoch {epoch + 1}: loss {loss.item():.4f}")


def main():
    torch.manual_seed(11)
    generator = torch.Generator().manual_seed(12)
    train, held_out = simulate_patients(24, generator), simulate_patients(8, generator)
    model = Integrator(HybridField(), DT, N_STEPS)
    fit(model, PathLoss(), train, epochs=15)
    with torch.no_grad():
        path = model(held_out["x0"], held_out["meal"])
        error = (path[..., 0] - held_out["cgm"]).abs().mean()
    rates = model.field.log_rates.detach().exp().tolist()
    print(f"held-out error {error:.3f}, rates {rates[0]:.2f} {rates[1]:.2f}")


if __name__ == "__main__":
    main()
