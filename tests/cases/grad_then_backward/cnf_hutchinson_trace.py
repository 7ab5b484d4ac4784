# expect: pattern = grad-then-backward
# expect: raises = RuntimeError: Trying to backward through the graph a second time
# expect: carrier = dx, z, f, velocity, dz, out, states, h, logp
# A continuous normalising flow: Euler steps, the trace of the Jacobian from a random probe.
import math

import torch
from torch import nn


class ODEFunc(nn.Module):
    def __init__(self, dim, hidden=24):
        super().__init__()
        self.net = nn.Sequential(nn.Linear(dim + 1, hidden), nn.Softplus(), nn.Linear(hidden, dim))
        self.e = None

    def forward(self, t, z):
        z.requires_grad_(True)
        time = z.new_full((z.shape[0], 1), t)
        dz = self.net(torch.cat([z, time], dim=1))
        probe = torch.autograd.grad(dz, z, self.e)[0]  # expect: place
        return dz, -(probe * self.e).sum(dim=1)


class CNF(nn.Module):
    def __init__(self, dim, steps=3):
        super().__init__()
        self.func, self.steps = ODEFunc(dim), steps

    def log_prob(self, x):
        self.func.e = torch.randn_like(x)
        z, delta = x.clone(), torch.zeros(len(x))
        for i in range(self.steps):
            dz, dlogp = self.func(i / self.steps, z)
            z, delta = z + dz / self.steps, delta + dlogp / self.steps
        base = -0.5 * (z**2).sum(1) - 0.5 * z.shape[1] * math.log(2 * math.pi)
        return base - delta


torch.manual_seed(2)
flow = CNF(2)
optimizer = torch.optim.Adam(flow.parameters(), lr=1e-2)
moons = torch.randn(200, 2) * torch.tensor([1.0, 0.3]) + 1
for epoch in range(2):
    for x in moons.split(50):
        loss = -flow.log_prob(x).mean()
        optimizer.zero_grad()
        loss.backward()  # expect: place
        optimizer.step()
    print(f"{epoch} nll {loss.item():.3f}")
