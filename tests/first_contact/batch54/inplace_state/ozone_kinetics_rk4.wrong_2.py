# expect: pattern = inplace-state
# expect: raises = RuntimeError: one of the variables needed for gradient computation has been modified by an inplace operation
# expect: carrier = traj
"""Rate constants of a reduced ozone mechanism from noisy chamber runs.

    O2 + light -> 2 O      O + O2 -> O3      O3 + light -> O + O2      O + O3 -> 2 O2

A small network adds what the reduced mechanism leaves out. Fixed-step RK4.
"""
import torch
from torch import nn

torch.manual_seed(77)
torch.set_default_dtype(torch.float64)

STOICH = torch.tensor([
    # O     O2     O3
    [2.0, -1.0, 0.0],
    [-1.0, -1.0, 1.0],
    [1.0, 1.0, -1.0],
    [-1.0, 2.0, -1.0],
])


class Mechanism(nn.Module):
    def __init__(self, log_k):
        super().__init__()
        self.log_k = nn.Parameter(torch.as_tensor(log_k))
        self.rest = nn.Sequential(nn.Linear(3, 8), nn.Tanh(), nn.Linear(8, 3))
        for p in self.rest[-1].parameters():
            nn.init.zeros_(p)

    def forward(self, y):
        k = self.log_k.exp()
        o, o2, o3 = y[:, 0], y[:, 1], y[:, 2]
        rates = torch.stack([k[0] * o2, k[1] * o * o2, k[2] * o3, k[3] * o * o3], dim=1)
        return rates @ STOICH + 0.1 * self.rest(y)


def rk4(f, y, h):
    k1 = f(y)
    k2 = f(y + 0.5 * h * k1)
    k3 = f(y + 0.5 * h * k2)
    k4 = f(y + h * k3)
    return y + h / 6 * (k1 + 2 * k2 + 2 * k3 + k4)


def integrate(f, y0, n_steps, h):
    """Concentrations at every step: (n_steps + 1, runs, species)."""
    traj = y0.new_zeros(n_steps + 1, *y0.shape)
    traj[0] = y0
    for i in range(n_steps):
        traj.data[i + 1] = rk4(f, traj[i], h)  # expect: place
    return traj


def chamber_runs(runs=8, n_steps=30, h=0.05):
    truth = Mechanism([-1.2, 0.4, -0.7, -0.2])
    y0 = torch.rand(runs, 3) * torch.tensor([0.2, 1.0, 0.3]) + torch.tensor([0.0, 0.5, 0.0])
    with torch.no_grad():
        y = y0
        seen = [y]
        for _ in range(n_steps):
            y = rk4(truth, y, h)
            seen.append(y)
    clean = torch.stack(seen)
    return y0, clean + 0.005 * torch.randn_like(clean)


def main():
    h, n_steps = 0.05, 30
    y0, observed = chamber_runs(n_steps=n_steps, h=h)
    model = Mechanism([0.0, 0.0, 0.0, 0.0])
    opt = torch.optim.Adam([
        {"params": [model.log_k], "lr": 0.05},
        {"params": model.rest.parameters(), "lr": 0.002},
    ])
    for it in range(40):
        opt.zero_grad()
        traj = integrate(model, y0, n_steps, h)
        misfit = (traj - observed).pow(2).mean()
        loss = misfit + 1e-4 * sum(p.pow(2).sum() for p in model.rest.parameters())
        loss.backward()  # expect: place
        opt.step()
        if it % 10 == 0 or it == 39:
            ks = ", ".join(f"{v:.3f}" for v in model.log_k.exp().tolist())
            print(f"{it:3d}  misfit {misfit.item():.3e}  k = [{ks}]")


if __name__ == "__main__":
    main()
