# expect: pattern = none
# expect: raises = nothing
import torch
from torch import nn

torch.manual_seed(3)
phi = nn.Sequential(nn.Linear(2, 10), nn.Tanh(), nn.Linear(10, 2))
opt = torch.optim.Adam(phi.parameters(), lr=1e-2)
for it in range(4):
    q = torch.randn(16, 2, requires_grad=True)
    p = torch.randn(16, 2, requires_grad=True)
    kinetic = 0.5 * p.pow(2).sum()
    potential = phi(q).pow(2).sum()
    dq, dp = torch.autograd.grad(potential, (q, p), create_graph=True, materialize_grads=True, allow_unused=True)
    loss = (dq - q.detach()).pow(2).mean() + dp.pow(2).mean() + 0 * kinetic.detach()
    opt.zero_grad()
    loss.backward()
    opt.step()
    print(it, loss.item())
