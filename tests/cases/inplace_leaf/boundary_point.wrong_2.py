import torch
from torch import nn

torch.manual_seed(3)
net = nn.Sequential(nn.Linear(1, 20), nn.Tanh(), nn.Linear(20, 1))
opt = torch.optim.LBFGS(net.parameters(), lr=0.3, max_iter=5)


def collocation(n):
    x = torch.rand(n, 1, requires_grad=True)
    return x


def closure():
    opt.zero_grad()
    y = net(x)
    slope = torch.autograd.grad(y.sum(), x, create_graph=True)[0]
    loss = (slope - torch.cos(x)).pow(2).mean() + y[0].pow(2).sum()
    loss.backward()
    return loss


for sweep in range(2):
    x = collocation(25)
    print(sweep, opt.step(closure).item())
