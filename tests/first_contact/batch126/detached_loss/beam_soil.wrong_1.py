"""Deflection of a rail on elastic soil: stiff * u'''' + soil * u = load, simply supported."""
import math

import torch
from torch import nn

torch.manual_seed(8)


class Rail(nn.Module):
    def __init__(self, hidden=20):
        super().__init__()
        self.net = nn.Sequential(
            nn.Linear(1, hidden), nn.Tanh(), nn.Linear(hidden, hidden), nn.Tanh(), nn.Linear(hidden, 1)
        )

    def forward(self, x):
        return self.net(x)


def derivatives(u, x, order):
    chain = [u]
    for k in range(order):
        last = k == order - 1
        (slope,) = torch.autograd.grad(chain[-1].sum(), x, retain_graph=True, create_graph=not last)
        chain.append(slope.requires_grad_())
    return chain


class SoilProblem:
    def __init__(self, stiff=0.02, soil=1.0):
        self.stiff, self.soil = stiff, soil

    def load(self, x):
        return (self.stiff * math.pi**4 + self.soil) * torch.sin(math.pi * x)

    def inside(self, rail, x):
        u, _, _, _, d4 = derivatives(rail(x), x, 4)
        residual = self.stiff * d4 + self.soil * u - self.load(x)
        return residual.square().mean()

    def ends(self, rail, x):
        u, _, moment = derivatives(rail(x), x, 2)
        return u.square().mean(), moment.square().mean()


def main():
    rail, problem = Rail(), SoilProblem()
    generator = torch.Generator().manual_seed(1)
    optimizer = torch.optim.Adam(rail.parameters(), lr=5e-3)
    ends = torch.tensor([[0.0], [1.0]], requires_grad=True)
    for step in range(60):
        x = torch.rand(48, 1, generator=generator).requires_grad_()
        field = problem.inside(rail, x)
        height, moment = problem.ends(rail, ends)
        loss = field + 10 * height + 0.1 * moment
        optimizer.zero_grad()
        loss.backward()
        optimizer.step()
        if step % 20 == 0:
            print(f"{step:4d}  field {field.item():.4f}  ends {height.item():.4f} {moment.item():.4f}")
    with torch.no_grad():
        grid = torch.linspace(0, 1, 51)[:, None]
        print("largest error", (rail(grid) - torch.sin(math.pi * grid)).abs().max().item())


main()
