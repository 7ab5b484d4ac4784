"""Identify a linear state-space model of a boiler from step tests (fuel, feed water, damper).

x[t+1] = A x[t] + B u[t],  y[t] = C x[t] + D u[t]
Trained on rollouts; A is scaled back whenever its spectral radius leaves the unit circle.
"""
import numpy as np
import torch
from torch import nn, optim

np.random.seed(14)
torch.manual_seed(14)

STATES, INPUTS, OUTPUTS = 6, 3, 2
RHO_MAX = 0.97


def plant(u):
    """The 'real' boiler: three lags, one of them shrinking and swelling."""
    lag = np.zeros(3)
    out = []
    for fuel, water, damper in u:
        lag[0] += 0.06 * (fuel - 0.5 * damper - lag[0])
        lag[1] += 0.12 * (water - lag[0] - lag[1])
        lag[2] += 0.3 * (lag[0] - lag[2])
        out.append([lag[2], lag[1] - 0.4 * water])
    return np.array(out)


def step_test(length=120):
    u = np.repeat(np.random.uniform(-1, 1, (length // 12, INPUTS)), 12, axis=0)
    return u, plant(u) + 0.01 * np.random.randn(length, OUTPUTS)


def dataset(tests):
    pairs = [step_test() for _ in range(tests)]
    u, y = (np.stack(part).astype(np.float32) for part in zip(*pairs))
    return torch.from_numpy(u), torch.from_numpy(y)


class StateSpace(nn.Module):
    def __init__(self):
        super().__init__()
        self.A = nn.Parameter(0.99 * torch.eye(STATES) + 0.05 * torch.randn(STATES, STATES))
        self.B = nn.Parameter(0.1 * torch.randn(STATES, INPUTS))
        self.C = nn.Parameter(0.3 * torch.randn(OUTPUTS, STATES))
        self.D = nn.Parameter(torch.zeros(OUTPUTS, INPUTS))

    def forward(self, u):
        x = u.new_zeros(len(u), STATES)
        y = []
        for now in u.unbind(1):
            y.append(x @ self.C.T + now @ self.D.T)
            x = x @ self.A.T + now @ self.B.T
        return torch.stack(y, 1)


def spectral_radius(A):
    return float(np.abs(np.linalg.eigvals(A)).max())


def keep_stable(model):
    model.A.requires_grad_(False)
    rho = spectral_radius(model.A)
    if rho > RHO_MAX:
        model.A.data.mul_(RHO_MAX / rho)
    return rho


def time_constants(model):
    poles = torch.linalg.eigvals(model.A.detach()).abs().clamp(1e-3, 1 - 1e-4)
    return sorted((-1 / poles.log()).tolist(), reverse=True)


def fit_percent(y, guess):
    return 100 * (1 - (y - guess).norm() / (y - y.mean((0, 1))).norm()).item()


train_u, train_y = dataset(24)
valid_u, valid_y = dataset(8)
model = StateSpace()
keep_stable(model)
optimizer = optim.Adam(model.parameters(), lr=1e-2)
scheduler = optim.lr_scheduler.ExponentialLR(optimizer, 0.97)
clipped = 0

for epoch in range(30):
    horizon = 40 if epoch < 10 else 120  # short rollouts first
    loss = (model(train_u[:, :horizon]) - train_y[:, :horizon]).pow(2).mean()
    optimizer.zero_grad()
    loss.backward()
    nn.utils.clip_grad_norm_(model.parameters(), 1.0)
    optimizer.step()
    scheduler.step()
    rho = keep_stable(model)
    clipped += rho > RHO_MAX
    if epoch % 10 == 9:
        with torch.no_grad():
            fit = fit_percent(valid_y, model(valid_u))
        print("epoch %2d  mse %.4f  rho %.3f  fit %.1f %%" % (epoch, loss.item(), rho, fit))

print("scaled back in %d epochs; time constants" % clipped, ["%.1f" % tau for tau in time_constants(model)])
