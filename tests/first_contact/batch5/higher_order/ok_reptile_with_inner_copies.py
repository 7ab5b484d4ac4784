"""Reptile over pendulum lengths: plain SGD on a copy, then the start moves towards where the copy ended."""
import copy

import torch
import torch.nn as nn


def pendulum(n=12):
    length = 0.5 + 2 * torch.rand(())
    t = torch.rand(n, 1) * 3
    return t, torch.cos((9.81 / length).sqrt() * t)


torch.manual_seed(22)
start = nn.Sequential(nn.Linear(1, 24), nn.Tanh(), nn.Linear(24, 1))
outer = torch.optim.SGD(start.parameters(), lr=0.5)
for it in range(8):
    outer.zero_grad()
    for _ in range(3):
        t, y = pendulum()
        inner = copy.deepcopy(start)
        sgd = torch.optim.SGD(inner.parameters(), lr=0.05)
        for _ in range(4):
            loss = (inner(t) - y).pow(2).mean()
            sgd.zero_grad()
            loss.backward()
            sgd.step()
        for p, q in zip(start.parameters(), inner.parameters()):
            towards = (p - q).detach() / 3
            p.grad = towards if p.grad is None else p.grad + towards
    outer.step()
    print(it, round(loss.item(), 4))
