"""Differentially private SGD by hand: clip every example's gradient, then add noise."""
import torch
from torch import nn

CLIP, SIGMA = 1.0, 0.2


def dp_step(model, optimizer, x, y):
    params = [p for p in model.parameters() if p.requires_grad]
    summed = [torch.zeros_like(p) for p in params]

    for i in range(len(x)):
        model.zero_grad()
        nn.functional.cross_entropy(model(x[i : i + 1]), y[i : i + 1]).backward()
        norm = torch.sqrt(sum(p.grad.pow(2).sum() for p in params))
        scale = (CLIP / (norm + 1e-6)).clamp(max=1.0)
        for acc, p in zip(summed, params):
            acc += p.grad * scale
    for acc, p in zip(summed, params):
        p.grad = (acc + SIGMA * CLIP * torch.randn_like(acc)) / len(x)
    optimizer.step()


torch.manual_seed(77)
model = nn.Sequential(nn.Linear(5, 12), nn.Tanh(), nn.Linear(12, 2))
optimizer = torch.optim.SGD(model.parameters(), lr=0.5)
for step in range(3):
    x = torch.randn(6, 5)
    dp_step(model, optimizer, x, (x[:, 0] > 0).long())
