# expect: pattern = none
# expect: raises = nothing
import torch
from torch import nn

torch.manual_seed(3)
net = nn.Sequential(nn.Linear(3, 12), nn.Tanh(), nn.Linear(12, 1))
opt = torch.optim.SGD(net.parameters(), lr=0.1)
rho = 0.05
for step in range(5):
    x = torch.randn(24, 3)
    y = x.norm(dim=1, keepdim=True)
    grads = torch.autograd.grad((net(x) - y).pow(2).mean(), list(net.parameters()))
    norm = torch.sqrt(sum(g.pow(2).sum() for g in grads))
    shifts = [rho * g / norm for g in grads]
    with torch.no_grad():
        for p, e in zip(net.parameters(), shifts):
            p.add_(e)
    opt.zero_grad()
    loss = (net(x) - y).pow(2).mean()
    loss.backward()
    with torch.no_grad():
        for p, e in zip(net.parameters(), shifts):
            p.sub_(e)
    opt.step()
    print(step, loss.item())
