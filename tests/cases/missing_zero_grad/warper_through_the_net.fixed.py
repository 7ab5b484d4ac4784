"""Leaf shapes: a net that names them, and a warper that learns to make them hard for it."""

import torch
import torch.nn as nn
import torch.nn.functional as F

torch.manual_seed(8)
net = nn.Sequential(nn.Linear(10, 24), nn.ReLU(), nn.Linear(24, 4))
warper = nn.Sequential(nn.Linear(10, 10), nn.Tanh())
opt_net = torch.optim.SGD(net.parameters(), lr=0.1, momentum=0.9)
opt_warper = torch.optim.SGD(warper.parameters(), lr=0.02)


def outlines(n):
    kind = torch.randint(0, 4, (n,))
    turn = torch.linspace(0, 6.28, 10)
    return torch.cos(turn * (kind[:, None] + 1)) + 0.2 * torch.randn(n, 10), kind


def learn_to_name(x, kind):
    with torch.no_grad():
        x = x + 0.3 * warper(x)
    loss = F.cross_entropy(net(x), kind)
    opt_net.zero_grad()
    loss.backward()
    opt_net.step()
    return loss.item()


def learn_to_warp(x, kind):
    bent = x + 0.3 * warper(x)
    loss = (bent - x).pow(2).mean() - F.cross_entropy(net(bent), kind)
    opt_warper.zero_grad()
    loss.backward()
    opt_warper.step()


for batch in range(10):
    x, kind = outlines(24)
    named = learn_to_name(x, kind)
    learn_to_warp(x, kind)
print(f"{named:.3f}")
