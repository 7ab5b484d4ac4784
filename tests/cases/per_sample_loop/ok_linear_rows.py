# expect: pattern = none
# One batch for the report, and for each sample a forward of its own that is walked.
import torch
from torch import nn


def privatise(model, x, y, clip=1.0, noise=0.1):
    summed = [torch.zeros_like(p) for p in model.parameters()]
    for xi, yi in zip(x.unbind(0), y.unbind(0)):
        loss = nn.functional.mse_loss(model(xi), yi)
        grads = torch.autograd.grad(loss, list(model.parameters()))
        norm = torch.stack([g.norm() for g in grads]).norm()
        factor = min(1.0, clip / (norm.item() + 1e-6))
        for total, g in zip(summed, grads):
            total += factor * g
    return [(s + noise * torch.randn_like(s)) / len(x) for s in summed]


torch.manual_seed(0)
model = nn.Sequential(nn.Linear(4, 6), nn.Tanh(), nn.Linear(6, 1))
optimizer = torch.optim.SGD(model.parameters(), lr=0.1)
for step in range(3):
    x = torch.randn(6, 4)
    y = x.sum(1, keepdim=True)
    for p, g in zip(model.parameters(), privatise(model, x, y)):
        p.grad = g
    optimizer.step()
    print(step, nn.functional.mse_loss(model(x), y).item())
