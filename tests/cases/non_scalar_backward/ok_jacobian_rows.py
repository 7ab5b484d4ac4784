# expect: pattern = none
# expect: raises = nothing
import torch
from torch import nn

torch.manual_seed(3)
f = nn.Sequential(nn.Linear(3, 8), nn.Tanh(), nn.Linear(8, 2))
opt = torch.optim.Adam(f.parameters(), lr=1e-2)
for it in range(4):
    x = torch.randn(10, 3, requires_grad=True)
    y = f(x)
    rows = [torch.autograd.grad(y[:, k], x, torch.ones(10), create_graph=True)[0] for k in range(2)]
    jacobian = torch.stack(rows, dim=1)
    loss = (y - x[:, :2]).pow(2).mean() + 0.01 * jacobian.pow(2).sum((1, 2)).mean()
    opt.zero_grad()
    loss.backward()
    opt.step()
    print(it, loss.item())
