# Gradient norms of each task on the shared weights are measured before the one real backward.
import torch
from torch import nn

torch.manual_seed(6)
shared = nn.Sequential(nn.Linear(5, 10), nn.Tanh())
heads = nn.ModuleList(nn.Linear(10, 1) for _ in range(2))
opt = torch.optim.SGD([*shared.parameters(), *heads.parameters()], lr=0.05)
for _ in range(4):
    x = torch.randn(9, 5)
    h = shared(x)
    losses = [head(h).squeeze(-1).sub(x[:, i]).pow(2).mean() for i, head in enumerate(heads)]
    norms = []
    for loss in losses:
        (g,) = torch.autograd.grad(loss, shared[0].weight, retain_graph=True)
        norms.append(g.norm())
    weights = torch.stack(norms).mean() / torch.stack(norms)
    opt.zero_grad()
    sum(w * loss for w, loss in zip(weights, losses)).backward()
    opt.step()
