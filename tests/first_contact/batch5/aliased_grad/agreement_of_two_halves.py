# expect: pattern = aliased-grad
# expect: raises = nothing
# expect: carrier = first, p.grad, g1
"""Step size from agreement: both halves of a batch are walked one after the other, and the step is scaled by
the cosine of their gradients."""
import torch
import torch.nn as nn
import torch.nn.functional as F


def flat(grads):
    return torch.cat([g.reshape(-1) for g in grads])


def agreement(model, x, y):
    params = list(model.parameters())
    half = len(x) // 2
    F.cross_entropy(model(x[:half]), y[:half]).backward()
    first = [p.grad for p in params]  # expect: place
    F.cross_entropy(model(x[half:]), y[half:]).backward()
    second = [p.grad - f for p, f in zip(params, first)]  # expect: place
    return F.cosine_similarity(flat(first), flat(second), dim=0).item()


def coins(n):
    x = torch.randn(n, 5)
    return x, (x[:, 0] > 0.3).long() + 2 * (x[:, 1] > 0).long()


torch.manual_seed(44)
model = nn.Sequential(nn.Linear(5, 15), nn.Tanh(), nn.Linear(15, 4))
opt = torch.optim.SGD(model.parameters(), lr=0.3)
for it in range(10):
    x, y = coins(24)
    opt.zero_grad()
    a = agreement(model, x, y)
    for p in model.parameters():
        p.grad.mul_(0.5 * (0.1 + max(a, 0.0)))
    opt.step()
    print(it, "agreement", round(a, 3))
