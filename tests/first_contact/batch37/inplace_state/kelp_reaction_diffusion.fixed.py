"""Recover diffusion and grazing rates of a kelp / urchin reaction-diffusion model from noisy snapshots."""
import torch
import torch.nn.functional as F
from torch import nn

LAPLACE = torch.tensor([[[[0.25, 0.5, 0.25], [0.5, -3.0, 0.5], [0.25, 0.5, 0.25]]]])


def laplacian(f):
    return F.conv2d(F.pad(f, (1, 1, 1, 1), mode="circular"), LAPLACE)


class KelpUrchin(nn.Module):
    def __init__(self, Du, Dv, graze, die, dt=0.25):
        super().__init__()
        self.log_Du = nn.Parameter(torch.tensor(Du).log())
        self.log_Dv = nn.Parameter(torch.tensor(Dv).log())
        self.log_graze = nn.Parameter(torch.tensor(graze).log())
        self.log_die = nn.Parameter(torch.tensor(die).log())
        self.dt = dt

    def rhs(self, u, v):
        eaten = self.log_graze.exp() * u * v
        du = self.log_Du.exp() * laplacian(u) + u * (1 - u) - eaten
        dv = self.log_Dv.exp() * laplacian(v) + eaten - self.log_die.exp() * v
        return du, dv

    def forward(self, start, n_steps):
        """start: (batch, 2, H, W) -> (n_steps + 1, batch, 2, H, W)"""
        traj = [start]
        for t in range(n_steps):
            u, v = traj[t][:, 0:1], traj[t][:, 1:2]
            du, dv = self.rhs(u, v)
            traj.append(torch.cat([u + self.dt * du, v + self.dt * dv], dim=1))
        return torch.stack(traj)


def observe(truth, n_steps, batch=3, size=10):
    start = torch.stack([0.6 + 0.3 * torch.rand(batch, size, size), 0.3 * torch.rand(batch, size, size)], 1)
    with torch.no_grad():
        full = truth(start, n_steps)
    return start, full + 0.01 * torch.randn_like(full)


def fit(model, start, snapshots, every, epochs, lr):
    optimizer = torch.optim.Adam(model.parameters(), lr=lr)
    wanted = torch.arange(every, len(snapshots), every)
    for epoch in range(epochs):
        traj = model(start, len(snapshots) - 1)
        loss = F.mse_loss(traj[wanted], snapshots[wanted])
        optimizer.zero_grad()
        loss.backward()
        optimizer.step()
        if epoch % 5 == 0:
            rates = {n[4:]: round(p.exp().item(), 3) for n, p in model.named_parameters()}
            print(epoch, f"{loss.item():.6f}", rates)


if __name__ == "__main__":
    torch.manual_seed(77)
    truth = KelpUrchin(Du=0.1, Dv=0.3, graze=1.4, die=0.5)
    start, snapshots = observe(truth, n_steps=12)
    fit(KelpUrchin(Du=0.2, Dv=0.2, graze=1.0, die=0.8), start, snapshots, every=3, epochs=20, lr=0.05)
