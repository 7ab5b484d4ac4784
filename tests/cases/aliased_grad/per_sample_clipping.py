# expect: pattern = aliased-grad
# expect: raises = nothing
# expect: carrier = collected, grads, grad
"""Differentially private SGD by hand: clip each sample's gradient, sum, add noise."""
import torch
from torch import nn

torch.manual_seed(1)


def per_sample_grads(model, xs, ys):
    collected = []
    for x, y in zip(xs, ys):
        model.zero_grad(set_to_none=False)  # expect: place
        nn.functional.cross_entropy(model(x.unsqueeze(0)), y.unsqueeze(0)).backward()
        collected.append([p.grad for p in model.parameters()])  # expect: place
    return collected


def private_step(model, opt, xs, ys, clip=1.0, sigma=0.01):
    collected = per_sample_grads(model, xs, ys)  # expect: place
    for i, p in enumerate(model.parameters()):
        clipped = []
        for grads in collected:
            norm = torch.sqrt(sum(g.pow(2).sum() for g in grads))
            clipped.append(grads[i] * (clip / norm.clamp(min=clip)))
        p.grad = torch.stack(clipped).mean(0) + sigma * torch.randn_like(p)
    opt.step()


model = nn.Sequential(nn.Linear(4, 8), nn.ReLU(), nn.Linear(8, 2))
opt = torch.optim.SGD(model.parameters(), lr=0.2)
for step in range(4):
    xs = torch.randn(6, 4)
    ys = (xs[:, 0] > 0).long()
    private_step(model, opt, xs, ys)
    with torch.no_grad():
        print(step, nn.functional.cross_entropy(model(xs), ys).item())
