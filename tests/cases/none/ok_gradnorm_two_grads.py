# expect: pattern = none
# Gradient normalisation: norms of each task's gradient at the trunk, graphs kept on purpose.
import torch
from torch import nn

torch.manual_seed(0)
trunk = nn.Sequential(nn.Linear(5, 16), nn.Tanh())
heads = nn.ModuleList([nn.Linear(16, 1), nn.Linear(16, 1)])
weights = torch.ones(2, requires_grad=True)
net_opt = torch.optim.Adam([*trunk.parameters(), *heads.parameters()], lr=1e-3)
w_opt = torch.optim.Adam([weights], lr=1e-2)
initial = None
for step in range(4):
    x = torch.randn(20, 5)
    z = trunk(x)
    targets = (x.sum(1, keepdim=True), x.prod(1, keepdim=True))
    losses = torch.stack([nn.functional.mse_loss(h(z), y) for h, y in zip(heads, targets)])
    initial = losses.detach() if initial is None else initial
    total = (weights.detach() * losses).sum()
    net_opt.zero_grad()
    total.backward(retain_graph=True)
    norms = torch.stack([
        torch.autograd.grad(w * loss, trunk[0].weight, retain_graph=True, create_graph=True)[0].norm()
        for w, loss in zip(weights, losses)
    ])
    rate = (losses.detach() / initial) / (losses.detach() / initial).mean()
    balance = (norms - (norms.mean() * rate).detach()).abs().sum()
    w_opt.zero_grad()
    weights.grad = torch.autograd.grad(balance, weights)[0]
    net_opt.step()
    w_opt.step()
    with torch.no_grad():
        weights.mul_(2 / weights.sum())
    print(step, losses.tolist(), weights.tolist())
