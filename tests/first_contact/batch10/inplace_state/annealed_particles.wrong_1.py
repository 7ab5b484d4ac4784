"""Langevin particles with a learned drift; the whole path has to be differentiable (neutron guide design)."""
import torch

torch.manual_seed(17)
drift = torch.nn.Sequential(torch.nn.Linear(3, 20), torch.nn.Softplus(), torch.nn.Linear(20, 2))
opt = torch.optim.Adam(drift.parameters(), lr=3e-3)


def fly(n, steps=8, dt=0.1):
    x = torch.randn(n, 2)
    for k in range(steps):
        t = torch.full((n, 1), k * dt)
        v = drift(torch.cat([x.detach(), t], 1))
        x += dt * (v - x.detach().clone() * x.detach().norm(dim=1, keepdim=True))
        x.clamp_(-3, 3)
    return x


for shot in range(5):
    loss = (fly(30) - torch.tensor([1.0, -1.0])).pow(2).mean()
    opt.zero_grad()
    loss.backward()
    opt.step()
    print(shot, loss.item())
