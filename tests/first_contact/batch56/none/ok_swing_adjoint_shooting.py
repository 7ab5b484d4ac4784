# expect: pattern = none
# expect: raises = nothing
"""Identify a damped playground swing by multiple shooting; gradients by the continuous adjoint.

The solver is a custom Function: forward under no_grad, backward integrates the adjoint state
and asks autograd for one vector-Jacobian product a step (a graph of its own each time).
"""
import torch
from torch import nn


class SwingLaw(nn.Module):
    def __init__(self):
        super().__init__()
        self.log_k = nn.Parameter(torch.tensor(0.5))
        self.damp = nn.Sequential(nn.Linear(1, 8), nn.Tanh(), nn.Linear(8, 1))

    def forward(self, y):
        ang, vel = y[:, :1], y[:, 1:]
        return torch.cat([vel, -self.log_k.exp() * torch.sin(ang) - vel * self.damp(vel.abs())], dim=1)


def midpoint(f, y, dt):
    return y + dt * f(y + dt / 2 * f(y))


class AdjointSolve(torch.autograd.Function):
    @staticmethod
    def forward(ctx, law, dt, steps, y0, *params):
        path = [y0]
        with torch.no_grad():
            for _ in range(steps):
                path.append(midpoint(law, path[-1], dt))
        ctx.law, ctx.dt = law, dt
        ctx.save_for_backward(*path)
        return torch.stack(path)

    @staticmethod
    def backward(ctx, grad_path):
        path = ctx.saved_tensors
        params = list(ctx.law.parameters())
        adj = grad_path[-1].clone()
        grads = [torch.zeros_like(p) for p in params]
        for k in range(len(path) - 2, -1, -1):
            with torch.enable_grad():
                y = path[k].detach().requires_grad_(True)
                nxt = midpoint(ctx.law, y, ctx.dt)
            vjp = torch.autograd.grad(nxt, [y] + params, adj)
            adj = vjp[0] + grad_path[k]
            for acc, g in zip(grads, vjp[1:]):
                acc += g
        return (None, None, None, adj, *grads)


def odeint(law, y0, dt, steps):
    return AdjointSolve.apply(law, dt, steps, y0, *law.parameters())


def observe(swings=5, segments=4, steps=10, dt=0.1):
    y = torch.stack([torch.linspace(0.4, 1.4, swings), torch.zeros(swings)], dim=1)
    rows = [y]
    for _ in range(segments * steps):
        def truth(s):
            return torch.stack([s[:, 1], -2.2 * torch.sin(s[:, 0]) - 0.25 * s[:, 1] * s[:, 1].abs()], 1)
        y = midpoint(truth, y, dt)
        rows.append(y)
    path = torch.stack(rows)
    return path + 0.01 * torch.randn_like(path)


class Shooting(nn.Module):
    def __init__(self, data, segments, steps):
        super().__init__()
        self.law = SwingLaw()
        self.steps, self.data = steps, data
        self.starts = nn.Parameter(data[:-1:steps].clone() + 0.05)

    def forward(self, dt=0.1):
        fit, gap = 0.0, 0.0
        for s, y0 in enumerate(self.starts.unbind(0)):
            path = odeint(self.law, y0, dt, self.steps)
            fit = fit + (path - self.data[s * self.steps:(s + 1) * self.steps + 1]).square().mean()
            if s + 1 < len(self.starts):
                gap = gap + (path[-1] - self.starts[s + 1]).square().mean()
        return fit, gap


if __name__ == "__main__":
    torch.manual_seed(1)
    model = Shooting(observe(), segments=4, steps=10)
    opt = torch.optim.Adam(model.parameters(), lr=2e-2)
    for it in range(40):
        fit, gap = model()
        loss = fit + (0.1 + 0.05 * it) * gap
        opt.zero_grad()
        loss.backward()
        opt.step()
        if it % 10 == 0 or it == 39:
            print("it %2d fit %.5f gap %.5f k %.3f" % (it, fit.item(), gap.item(), model.law.log_k.exp().item()))
