"""Physics-informed network for the heat equation u_t = alpha * u_xx on a rod."""
import math

import torch
import torch.nn as nn

torch.manual_seed(7)

ALPHA = 0.1


class RodNet(nn.Module):
    def __init__(self, width=24):
        super().__init__()
        self.net = nn.Sequential(
            nn.Linear(2, width), nn.Tanh(),
            nn.Linear(width, width), nn.Tanh(),
            nn.Linear(width, 1),
        )

    def forward(self, points):
        return self.net(points)


def heat_residual(model, points):
    points.requires_grad_(True)
    u = model(points)
    ones = torch.ones_like(u)
    du = torch.autograd.grad(u, points, grad_outputs=ones, create_graph=True)[0]
    u_x, u_t = du[:, :1], du[:, 1:]
    d2u = torch.autograd.grad(u_x, points, grad_outputs=ones, create_graph=True)[0]
    u_xx = d2u[:, :1]
    return u_t - ALPHA * u_xx


def initial_points(n):
    x = torch.rand(n, 1)
    return torch.cat([x, torch.zeros_like(x)], dim=1), torch.sin(math.pi * x)


def boundary_points(n):
    side = torch.randint(2, (n, 1)).float()
    return torch.cat([side, torch.rand(n, 1)], dim=1)


model = RodNet()
optimizer = torch.optim.Adam(model.parameters(), lr=2e-3)
mse = nn.MSELoss()

for epoch in range(40):
    residual = heat_residual(model, torch.rand(128, 2))
    loss_pde = residual.pow(2).mean()

    x0, u0 = initial_points(64)
    loss_ic = mse(model(x0), u0)
    loss_bc = model(boundary_points(64)).pow(2).mean()

    loss = loss_pde + 10.0 * (loss_ic + loss_bc)
    optimizer.zero_grad()
    loss.backward()
    optimizer.step()

    if epoch % 10 == 0:
        print(f"{epoch:4d} pde {loss_pde.item():.4f} ic {loss_ic.item():.4f} bc {loss_bc.item():.4f}")
