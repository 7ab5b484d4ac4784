# expect: pattern = none
# expect: raises = nothing
import torch
from torch import nn

torch.manual_seed(3)
net = nn.Sequential(nn.Linear(3, 6), nn.ReLU(), nn.Linear(6, 1))
opt = torch.optim.Adam(net.parameters(), lr=1e-2)
params = list(net.parameters())
for step in range(6):
    x = torch.randn(16, 3)
    loss = (net(x) - x.max(1, keepdim=True).values).pow(2).mean()
    for p, g in zip(params, torch.autograd.grad(loss, params)):
        p.grad = g.sign() * 0.1
    opt.step()
print(loss.item())
