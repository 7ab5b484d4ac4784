import math
import torch
from torch import nn, autograd

torch.manual_seed(0)


class Wave(nn.Module):
    def __init__(self, width=18):
        super().__init__()
        self.l1, self.l2, self.l3 = nn.Linear(2, width), nn.Linear(width, width), nn.Linear(width, 1)

    def forward(self, x, t):
        h = torch.sin(self.l1(torch.cat([x, t], 1)))
        return self.l3(torch.sin(self.l2(h)))


def d(y, x):
    return autograd.grad(y.sum(), x, retain_graph=True)[0]


net = Wave()
opt = torch.optim.Adam(net.parameters(), lr=1e-3)
for it in range(3):
    x = torch.rand(30, 1, requires_grad=True)
    t = torch.rand(30, 1, requires_grad=True)
    u = net(x, t)
    residual = d(u, t) + 0.5 * d(u, x)
    start = net(x.detach(), torch.zeros_like(t)) - torch.sin(2 * math.pi * x.detach())
    loss = residual.pow(2).mean() + start.pow(2).mean()
    opt.zero_grad()
    loss.backward()
    opt.step()
    print(it, loss.item())
