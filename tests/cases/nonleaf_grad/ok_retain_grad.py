# expect: pattern = none
# expect: raises = nothing
import torch
from torch import nn

torch.manual_seed(1)
f, g = nn.Linear(4, 6), nn.Linear(6, 1)
opt = torch.optim.SGD([*f.parameters(), *g.parameters()], lr=0.1)
for step in range(4):
    h = f(torch.randn(8, 4)).tanh()
    h.retain_grad()
    loss = g(h).pow(2).mean()
    opt.zero_grad()
    loss.backward()
    opt.step()
    print("hidden gradient", h.grad.norm().item())
