# expect: pattern = none
# Implicit-style meta-learning: each task adapts a copy of its own, and is walked once.
import copy

import torch
import torch.nn.functional as F
from torch import nn


def adapt(net, x, y, steps=2, lr=0.1):
    fast = list(net.parameters())
    for _ in range(steps):
        loss = F.mse_loss(forward(fast, x), y)
        grads = torch.autograd.grad(loss, fast, create_graph=True)
        fast = [p - lr * g for p, g in zip(fast, grads)]
    return fast


def forward(weights, x):
    w1, b1, w2, b2 = weights
    return F.linear(torch.tanh(F.linear(x, w1, b1)), w2, b2)


torch.manual_seed(0)
net = nn.Sequential(nn.Linear(2, 12), nn.Tanh(), nn.Linear(12, 1))
before = copy.deepcopy(net.state_dict())
outer = torch.optim.Adam(net.parameters(), lr=2e-3)
for episode in range(3):
    outer.zero_grad()
    for task in range(2):
        scale = torch.randn(())
        support, query = torch.randn(8, 2), torch.randn(8, 2)
        fast = adapt(net, support, scale * support.sum(1, keepdim=True))
        F.mse_loss(forward(fast, query), scale * query.sum(1, keepdim=True)).backward()
    outer.step()
print({k: (v - before[k]).norm().item() for k, v in net.state_dict().items()})
