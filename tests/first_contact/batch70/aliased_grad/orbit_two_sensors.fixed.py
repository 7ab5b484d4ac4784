# expect: pattern = aliased-grad
# expect: raises = nothing
# expect: carrier = g_range, grads, p.grad, by_sensor
"""Correction of a force model from two sensors whose residuals pull in different directions."""
import torch
import torch.nn as nn

MU = 1.0


class Perturbation(nn.Module):
    """What two-body motion leaves out: drag, J2, whatever the tracking shows."""

    def __init__(self, width=16):
        super().__init__()
        self.net = nn.Sequential(nn.Linear(4, width), nn.Tanh(), nn.Linear(width, 2))

    def forward(self, r, v):
        return 0.05 * self.net(torch.cat([r, v], dim=-1))


def drag(r, v):
    return -0.02 * v * v.norm(dim=-1, keepdim=True)


def propagate(r, v, extra, steps=25, dt=0.05):
    """Semi-implicit Euler; (steps, batch, 2) of positions and velocities."""
    rs, vs = [], []
    for _ in range(steps):
        acc = -MU * r / r.norm(dim=-1, keepdim=True) ** 3 + extra(r, v)
        v = v + dt * acc
        r = r + dt * v
        rs.append(r)
        vs.append(v)
    return torch.stack(rs), torch.stack(vs)


def measure(r, v, station):
    los = r - station
    rho = los.norm(dim=-1)
    return rho, (los * v).sum(-1) / rho


def collect(model):
    return [p.grad.clone() for p in model.parameters()]  # expect: place


def dot(a, b):
    return sum((x * y).sum() for x, y in zip(a, b))


def combine(by_sensor):
    """Project each gradient off the other where they disagree, then add."""
    g1, g2 = by_sensor
    d = dot(g1, g2)
    if d < 0:
        n1, n2 = dot(g1, g1), dot(g2, g2)
        return [(a - d / n2 * b) + (b - d / n1 * a) for a, b in zip(g1, g2)]
    return [a + b for a, b in zip(g1, g2)]


def passes(n):
    phase = 6.283 * torch.rand(n, 1)
    r = torch.cat([phase.cos(), phase.sin()], 1) * (1 + 0.1 * torch.rand(n, 1))
    v = torch.cat([-phase.sin(), phase.cos()], 1)
    return r, v


def main(rounds=10):
    torch.manual_seed(29)
    model = Perturbation()
    opt = torch.optim.Adam(model.parameters(), lr=5e-3)
    station = torch.tensor([1.0, 0.0]) * 0.6
    for k in range(rounds):
        r0, v0 = passes(16)
        with torch.no_grad():
            rho, rate = measure(*propagate(r0, v0, drag), station)
        rho = rho + 1e-3 * torch.randn_like(rho)
        rate = rate + 1e-2 * torch.randn_like(rate)

        rho_hat, rate_hat = measure(*propagate(r0, v0, model), station)
        range_loss = (rho_hat - rho).square().mean()
        doppler_loss = (rate_hat - rate).square().mean()

        opt.zero_grad(set_to_none=False)
        range_loss.backward(retain_graph=True)
        g_range = collect(model)  # expect: place
        opt.zero_grad(set_to_none=False)  # expect: place
        doppler_loss.backward()
        g_doppler = collect(model)

        for p, g in zip(model.parameters(), combine([g_range, g_doppler])):
            p.grad = g
        opt.step()
        print(f"round {k}  range {range_loss.item():.5f}  doppler {doppler_loss.item():.5f}")


if __name__ == "__main__":
    main()
