# expect: pattern = inplace-activation
# expect: also = inplace-state
# expect: raises = RuntimeError: one of the variables needed for gradient computation has been modified by an inplace operation
# expect: carrier = y, state
"""Neural ODE for a chemostat: biomass, substrate and product over one night.

Known: dilution. Unknown: the growth law, which is the network. Classic RK4 in log units.
"""
import numpy as np
import torch
from torch import nn

torch.manual_seed(21)
torch.set_default_dtype(torch.float64)

SPAN, N_OBS, SUBSTEPS = 6.0, 13, 2


def simulate(y0, dilution):
    """Ground truth with Monod growth, tiny Euler steps in numpy."""
    y, path, dt = np.array(y0, dtype=float), [], 0.005
    every = int(SPAN / (N_OBS - 1) / dt)
    for i in range(every * (N_OBS - 1) + 1):
        if i % every == 0:
            path.append(y.copy())
        x, s, p = y
        mu = 0.9 * s / (0.4 + s)
        y = y + dt * np.array([x * (mu - dilution), dilution * (2 - s) - 1.8 * mu * x, 0.5 * mu * x - dilution * p])
    return torch.as_tensor(np.stack(path))


class Growth(nn.Module):
    def __init__(self, width=24):
        super().__init__()
        self.net = nn.Sequential(nn.Linear(3, width), nn.Tanh(), nn.Linear(width, 3))
        self.wash = nn.Parameter(torch.tensor(0.3))

    def forward(self, t, y):
        return self.net(y) - self.wash * y


def rk4_step(f, t, y, dt):
    k1 = f(t, y)
    k2 = f(t + dt / 2, y + dt / 2 * k1)
    k3 = f(t + dt / 2, y + dt / 2 * k2)
    k4 = f(t + dt, y + dt * k3)
    y += dt / 6 * (k1 + 2 * k2 + 2 * k3 + k4)  # expect: place
    return y


def integrate(f, y0, times, substeps=SUBSTEPS):
    y = y0.clone()
    out = [y0]
    for a, b in zip(times[:-1], times[1:]):
        dt = (b - a) / substeps
        for j in range(substeps):
            y = rk4_step(f, a + j * dt, y, dt)  # expect: place
        out.append(y.clone())
    return torch.stack(out)


runs = [simulate([0.1 + 0.1 * i, 1.5, 0.0], 0.15 + 0.05 * i) for i in range(4)]
data = torch.stack(runs, dim=1)          # time, run, species
times = torch.linspace(0, SPAN, N_OBS).tolist()

model = Growth()
opt = torch.optim.Adam(model.parameters(), lr=1e-2)
sched = torch.optim.lr_scheduler.ExponentialLR(opt, 0.97)

for it in range(30):
    pred = integrate(model, data[0], times)
    misfit = ((pred - data) ** 2).mean()
    smooth = 1e-4 * sum(p.pow(2).sum() for p in model.net.parameters())
    loss = misfit + smooth
    opt.zero_grad()
    loss.backward()  # expect: place
    nn.utils.clip_grad_norm_(model.parameters(), 5.0)
    opt.step()
    sched.step()
    if it % 6 == 0 or it == 29:
        print("it %2d  misfit %.4f  washout %.3f" % (it, misfit.item(), model.wash.item()))
