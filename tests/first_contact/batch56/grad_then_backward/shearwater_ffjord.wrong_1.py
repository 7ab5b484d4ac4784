"""Where do shearwaters forage?  Continuous normalizing flow (Hutchinson trace) over GPS fixes."""
import math

import torch
import torch.nn as nn


class Velocity(nn.Module):
    def __init__(self, dim=2, hidden=32):
        super().__init__()
        self.inp = nn.Linear(dim + 1, hidden)
        self.mid = nn.Linear(hidden, hidden)
        self.out = nn.Linear(hidden, dim)

    def forward(self, t, z):
        tt = torch.full_like(z[:, :1], t)
        h = torch.tanh(self.inp(torch.cat([z, tt], dim=1)))
        return self.out(torch.tanh(self.mid(h)))


class CNF(nn.Module):
    def __init__(self, steps=6):
        super().__init__()
        self.velocity = Velocity()
        self.steps = steps

    def trace(self, dz, z, eps):
        """eps' (d dz / d z) eps, one vector-Jacobian product."""
        vjp, = torch.autograd.grad(dz, z, eps, retain_graph=True)
        return (vjp * eps).sum(dim=1)

    def forward(self, x):
        z, logdet, dt = x, x.new_zeros(len(x)), 1.0 / self.steps
        eps = torch.randint(0, 2, x.shape).float() * 2 - 1
        with torch.enable_grad():
            for k in range(self.steps):
                if not z.requires_grad:
                    z = z.clone().requires_grad_(True)
                dz = self.velocity(k * dt, z)
                logdet = logdet + dt * self.trace(dz, z, eps)
                z = z + dt * dz
        return z, logdet

    def log_prob(self, x):
        z, logdet = self(x)
        base = -0.5 * (z ** 2).sum(1) - math.log(2 * math.pi)
        return base + logdet


def fixes(n, seed=0):
    """Two feeding grounds and the corridor between them, in units of 100 km."""
    g = torch.Generator().manual_seed(seed)
    which = torch.randint(3, (n,), generator=g)
    centres = torch.tensor([[-1.5, 0.8], [1.4, -0.6], [0.0, 0.1]])
    spread = torch.tensor([0.35, 0.3, 0.6])
    return centres[which] + spread[which, None] * torch.randn(n, 2, generator=g)


class Fit:
    def __init__(self, flow, data, lr=3e-3, batch=64):
        self.flow, self.data, self.batch = flow, data, batch
        self.opt = torch.optim.Adam(flow.parameters(), lr=lr)
        self.curve = []

    def epoch(self):
        total = 0.0
        for idx in torch.randperm(len(self.data)).split(self.batch):
            nll = -self.flow.log_prob(self.data[idx]).mean()
            self.opt.zero_grad(set_to_none=True)
            nll.backward()
            self.opt.step()
            total += nll.item() * len(idx)
        self.curve.append(total / len(self.data))
        return self.curve[-1]


def main():
    torch.manual_seed(4)
    fit = Fit(CNF(), fixes(256))
    for e in range(8):
        print("epoch %d: %.3f nats a fix" % (e, fit.epoch()))


if __name__ == "__main__":
    main()
