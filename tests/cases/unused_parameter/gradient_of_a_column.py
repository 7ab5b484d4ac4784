# expect: pattern = unused-parameter
# expect: raises = RuntimeError: The differentiated Tensor at index
# expect: carrier = tx, points
"""Heat in a rod: the residual asks for derivatives by columns of the points."""
import torch
from torch import nn

torch.manual_seed(3)
net = nn.Sequential(nn.Linear(2, 24), nn.Tanh(), nn.Linear(24, 24), nn.Tanh(), nn.Linear(24, 1))
optimizer = torch.optim.Adam(net.parameters(), lr=2e-3)


def slope(u, points, column):
    return torch.autograd.grad(u.sum(), points[:, column], create_graph=True)[0]  # expect: place


def residual(tx):
    tx = tx.requires_grad_()
    u = net(tx)
    return slope(u, tx, 0) + 0.4 * slope(u, tx, 1)


for step in range(12):
    inner = torch.rand(64, 2)
    start = torch.cat([torch.zeros(32, 1), torch.rand(32, 1)], 1)
    known = torch.sin(3.14159 * start[:, 1:])
    loss = residual(inner).pow(2).mean() + (net(start) - known).pow(2).mean()
    optimizer.zero_grad()
    loss.backward()
    optimizer.step()
    print(step, loss.item())
