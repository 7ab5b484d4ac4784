"""Surface currents of a bay from drifting buoys, by a stream function.

The network gives psi(x, y, t); the current is (d psi/dy, -d psi/dx) and so has no divergence by
construction. Along the coast psi is constant, which closes the bay.
"""
import math

import torch
from torch import nn


class FourierFeatures(nn.Module):
    def __init__(self, inputs, count, scale):
        super().__init__()
        self.register_buffer("waves", scale * torch.randn(inputs, count))

    def forward(self, x):
        phase = x @ self.waves
        return torch.cat([phase.sin(), phase.cos()], -1)


class StreamFunction(nn.Module):
    def __init__(self, width=48, features=16):
        super().__init__()
        self.lift = FourierFeatures(3, features, 1.5)
        self.net = nn.Sequential(
            nn.Linear(2 * features, width), nn.Tanh(), nn.Linear(width, width), nn.Tanh(),
            nn.Linear(width, 1, bias=False),
        )

    def psi(self, where):
        return self.net(self.lift(where)).squeeze(-1)

    def currents(self, where):
        """psi and velocity at the points `where` (rows of x, y, t)."""
        where = where.detach().requires_grad_(True)
        psi = self.psi(where)
        slope, = torch.autograd.grad(psi.sum(), where, retain_graph=True)
        return psi, torch.stack([slope[:, 1], -slope[:, 0]], 1)


def true_current(where):
    """A gyre that swells with the tide; the bay is the unit square."""
    x, y, t = where.unbind(1)
    strength = 0.5 * (1 + 0.5 * torch.sin(2 * math.pi * t))
    u = strength * torch.sin(math.pi * x) * math.pi * torch.cos(math.pi * y)
    v = -strength * math.pi * torch.cos(math.pi * x) * torch.sin(math.pi * y)
    return torch.stack([u, v], 1)


def drifters(count, fixes, dt=0.02):
    """Positions by GPS every `dt`; velocities are their differences and so are noisy."""
    place, rows, moves = torch.rand(count, 2) * 0.8 + 0.1, [], []
    for k in range(fixes):
        now = torch.cat([place, torch.full((count, 1), k * dt)], 1)
        step = true_current(now)
        rows.append(now)
        moves.append(step + 0.05 * torch.randn_like(step))
        place = (place + dt * step).clamp(0.01, 0.99)
    return torch.cat(rows), torch.cat(moves)


def coast(count):
    along, side = torch.rand(count), torch.randint(0, 4, (count,))
    x = torch.where(side < 2, along, (side == 2).float())
    y = torch.where(side < 2, (side == 0).float(), along)
    return torch.stack([x, y, torch.rand(count)], 1)


def train(model, rows, moves, epochs=8, batch=64, shore=1.0):
    opt = torch.optim.Adam(model.parameters(), lr=4e-3)
    for epoch in range(epochs):
        seen = []
        for part in torch.randperm(len(rows)).split(batch):
            where = torch.cat([rows[part], coast(32)])
            psi, uv = model.currents(where)
            n = len(part)
            data = (uv[:n] - moves[part]).square().sum(1).mean()
            closed = psi[n:].square().mean()
            opt.zero_grad()
            (data + shore * closed).backward()
            nn.utils.clip_grad_norm_(model.parameters(), 5.0)
            opt.step()
            seen.append([data.item(), closed.item()])
        data, closed = torch.tensor(seen).mean(0).tolist()
        print(f"epoch {epoch} data {data:.4f} coast {closed:.5f} grid rmse {on_grid(model):.3f}")


def on_grid(model, side=12, t=0.2):
    axis = torch.linspace(0.05, 0.95, side)
    xy = torch.cartesian_prod(axis, axis)
    where = torch.cat([xy, torch.full((len(xy), 1), t)], 1)
    _, uv = model.currents(where)
    return (uv - true_current(where)).square().sum(1).mean().sqrt().item()


torch.manual_seed(72)
rows, moves = drifters(24, 20)
model = StreamFunction()
print(f"{len(rows)} fixes, untrained rmse {on_grid(model):.3f}")
train(model, rows, moves)
