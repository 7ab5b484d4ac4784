# Two residuals of one forward, each walked by a helper.
import torch
from torch import nn


def gradient(u, x):
    return torch.autograd.grad(u.sum(), x, create_graph=True)[0]


class Navier:
    def __init__(self, nu=0.1):
        self.net = nn.Sequential(nn.Linear(1, 20), nn.Tanh(), nn.Linear(20, 2))
        self.nu = nu
        self.optimizer = torch.optim.Adam(self.net.parameters(), lr=1e-3)

    def fields(self, x):
        out = self.net(x)
        return out[:, :1], out[:, 1:]

    def residuals(self, x):
        u, p = self.fields(x)
        u_x = gradient(u, x)
        momentum = u * u_x + gradient(p, x) - self.nu * gradient(u_x, x)
        return {"momentum": momentum, "mass": (u_x + 0.1 * p).detach().requires_grad_()}

    def train_step(self, x):
        self.optimizer.zero_grad()
        report = {}
        for name, residual in self.residuals(x).items():
            loss = residual.pow(2).mean()
            loss.backward()
            report[name] = loss.item()
        self.optimizer.step()
        return report


torch.manual_seed(0)
problem = Navier()
for step in range(3):
    print(step, problem.train_step(torch.rand(16, 1, requires_grad=True)))
