"""A cooling rod: data, boundary and equation, each divided by its own running size."""
import torch
from torch import nn


class Balancer:
    """Keeps every term of a loss near one by the running mean of its size."""

    def __init__(self, keep=0.9):
        self.keep = keep
        self.scale = {}

    def __call__(self, name, value):
        before = self.scale.get(name)
        now = value if before is None else self.keep * before + (1 - self.keep) * value
        self.scale[name] = now
        return now

    def report(self):
        return "  ".join(f"{name} {float(size):.3f}" for name, size in self.scale.items())


def residual(net, xt, diffusivity=0.1):
    xt = xt.requires_grad_(True)
    u = net(xt)
    du = torch.autograd.grad(u.sum(), xt, create_graph=True)[0]
    u_xx = torch.autograd.grad(du[:, 0].sum(), xt, create_graph=True)[0][:, 0]
    return du[:, 1] - diffusivity * u_xx


def terms(net):
    x = torch.rand(32, 1)
    start = net(torch.cat([x, torch.zeros_like(x)], 1)) - torch.sin(torch.pi * x)
    t = torch.rand(32, 1)
    ends = net(torch.cat([torch.randint(0, 2, (32, 1)).float(), t], 1))
    physics = residual(net, torch.rand(64, 2))
    return start.pow(2).mean(), ends.pow(2).mean(), physics.pow(2).mean()


torch.manual_seed(5)
net = nn.Sequential(nn.Linear(2, 24), nn.Tanh(), nn.Linear(24, 24), nn.Tanh(), nn.Linear(24, 1))
opt = torch.optim.Adam(net.parameters(), lr=2e-3)

for step in range(8):
    balance = Balancer()
    start, ends, physics = terms(net)
    loss = start / balance("start", start.item())
    loss = loss + ends / balance("ends", ends.item())
    loss = loss + physics / balance("physics", physics)
    opt.zero_grad()
    loss.backward()
    opt.step()
print(balance.report())
