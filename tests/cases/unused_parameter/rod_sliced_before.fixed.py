"""Cooling of a rod: the columns are taken out of the points, and the net is given the points."""
import torch
from torch import nn

torch.manual_seed(2)
net = nn.Sequential(nn.Linear(2, 16), nn.Tanh(), nn.Linear(16, 1))
optimizer = torch.optim.Adam(net.parameters(), lr=1e-3)

for step in range(15):
    points = torch.rand(48, 2).requires_grad_()
    x = points[:, 0:1]
    t = points[:, 1:2]
    u = net(torch.cat([x, t], dim=1))
    u_x = torch.autograd.grad(u.sum(), x, create_graph=True)[0]
    u_t = torch.autograd.grad(u.sum(), t, create_graph=True)[0]
    u_xx = torch.autograd.grad(u_x.sum(), x, create_graph=True)[0]
    loss = (u_t - 0.05 * u_xx).pow(2).mean()
    optimizer.zero_grad()
    loss.backward()
    optimizer.step()
    print(step, loss.item())
