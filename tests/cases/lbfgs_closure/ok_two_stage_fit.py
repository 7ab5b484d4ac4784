# expect: pattern = none
# Adam first, then LBFGS on the whole batch; both make their loss where they walk it.
import torch
from torch import nn


def residual(net, x):
    x = x.detach().requires_grad_()
    u = net(x)
    du = torch.autograd.grad(u.sum(), x, create_graph=True)[0]
    return du + 2 * x * u


def objective(net, x):
    start = net(torch.zeros(1, 1)) - 1.0
    return residual(net, x).pow(2).mean() + start.pow(2).mean()


torch.manual_seed(3)
net = nn.Sequential(nn.Linear(1, 16), nn.Tanh(), nn.Linear(16, 1))
points = torch.linspace(0, 2, 40).unsqueeze(1)
adam = torch.optim.Adam(net.parameters(), lr=5e-3)
for _ in range(10):
    adam.zero_grad()
    loss = objective(net, points)
    loss.backward()
    adam.step()
print("adam", loss.item())
lbfgs = torch.optim.LBFGS(net.parameters(), max_iter=10)


def closure():
    lbfgs.zero_grad()
    value = objective(net, points)
    value.backward()
    return value


for _ in range(2):
    print("lbfgs", lbfgs.step(closure).item())
