# expect: pattern = none
# expect: raises = nothing
"""Steps with less noise: the gradient of a batch, corrected by what the same batch says at an anchor."""
import torch
from torch import nn


def network():
    return nn.Sequential(nn.Linear(4, 8), nn.Tanh(), nn.Linear(8, 1))


def gradients(net, x, y):
    net.zero_grad(set_to_none=False)
    (net(x) - y).pow(2).mean().backward()
    return [p.grad for p in net.parameters()]


def corrected_step(net, anchor, full, x, y, rate=0.05):
    here = gradients(net, x, y)
    there = gradients(anchor, x, y)
    with torch.no_grad():
        for p, g, g0, mu in zip(net.parameters(), here, there, full):
            p -= rate * (g - g0 + mu)


def train(rounds=3, steps=6):
    torch.manual_seed(4)
    x = torch.randn(60, 4)
    y = torch.sin(x.sum(1, keepdim=True))
    net, anchor = network(), network()
    for _ in range(rounds):
        anchor.load_state_dict(net.state_dict())
        full = [g.clone() for g in gradients(anchor, x, y)]
        for step in range(steps):
            rows = slice(10 * step, 10 * step + 10)
            corrected_step(net, anchor, full, x[rows], y[rows])
        print((net(x) - y).pow(2).mean().item())


train()
