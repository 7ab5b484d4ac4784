"""Two tasks over one trunk; the gradients are taken apart, and the weaker one gives way where they disagree."""
import torch
import torch.nn as nn
import torch.nn.functional as F

torch.manual_seed(30)
trunk = nn.Sequential(nn.Linear(8, 20), nn.ReLU())
speed, gear = nn.Linear(20, 1), nn.Linear(20, 5)
shared, own = list(trunk.parameters()), [*speed.parameters(), *gear.parameters()]
opt = torch.optim.AdamW(shared + own, lr=3e-3)

for it in range(10):
    x = torch.randn(24, 8)
    h = trunk(x)
    l1 = F.mse_loss(speed(h).squeeze(1), x[:, 0] * x[:, 1])
    l2 = F.cross_entropy(gear(h), (x[:, 2:7]).argmax(1))
    opt.zero_grad()
    l1.backward(retain_graph=True)
    a = [p.grad.clone() for p in shared]
    for p in shared:
        p.grad = None
    l2.backward()
    b = [p.grad for p in shared]
    dot = sum((u * v).sum() for u, v in zip(a, b))
    if dot < 0:
        scale = dot / sum(v.pow(2).sum() for v in b)
        a = [u - scale * v for u, v in zip(a, b)]
    for p, u, v in zip(shared, a, b):
        p.grad = u + v
    opt.step()
    print(it, round(l1.item(), 4), round(l2.item(), 4), "conflict" if dot < 0 else "")
