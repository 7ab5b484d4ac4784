import torch
from torch import nn

torch.manual_seed(0)
trunk = nn.Sequential(nn.Linear(6, 20), nn.Tanh())
task_a, task_b = nn.Linear(20, 1), nn.Linear(20, 1)
shared = list(trunk.parameters())
opt = torch.optim.SGD([*shared, *task_a.parameters(), *task_b.parameters()], lr=0.05)

for step in range(5):
    x = torch.randn(32, 6)
    loss_a = (task_a(trunk(x)) - x[:, :1]).pow(2).mean()
    loss_b = (task_b(trunk(x)) + x[:, :1]).pow(2).mean()

    opt.zero_grad(set_to_none=False)
    loss_a.backward()
    g1 = [p.grad.data for p in shared]

    for p in shared:
        p.grad.zero_()
    loss_b.backward()
    g2 = [p.grad for p in shared]

    dot = sum((a * b).sum() for a, b in zip(g1, g2))
    if dot < 0:
        norm = sum((b * b).sum() for b in g2)
        g1 = [a - dot / norm * b for a, b in zip(g1, g2)]
    for p, a, b in zip(shared, g1, g2):
        p.grad = a + b
    opt.step()
    print(step, loss_a.item(), loss_b.item(), float(dot))
