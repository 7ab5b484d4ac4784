# expect: pattern = none
# expect: raises = nothing
# Gradients of two losses are gathered as they are: each backward fills new tensors, since
# clearing lets go of the old ones.
import torch
from torch import nn


def gradients_of(losses, optimizer, params):
    rows = []
    for loss in losses:
        optimizer.zero_grad()
        loss.backward(retain_graph=True)
        rows.append([p.grad for p in params])
    return rows


torch.manual_seed(0)
model = nn.Sequential(nn.Linear(4, 8), nn.Tanh(), nn.Linear(8, 1))
params = list(model.parameters())
optimizer = torch.optim.SGD(params, lr=0.05)
x = torch.randn(32, 4)
for _ in range(6):
    y = model(x)
    losses = [(y - x[:, :1]).pow(2).mean(), (y + 1).abs().mean()]
    for p, g, h in zip(params, *gradients_of(losses, optimizer, params)):
        p.grad = (g + h) / 2
    optimizer.step()
    print([round(loss.item(), 4) for loss in losses])
