# expect: pattern = none
# expect: raises = nothing
"""Potsherds by ware, one region of the survey after another, in micro-batches."""
import copy

import torch
import torch.nn as nn
import torch.nn.functional as F

from consolidation import Consolidation

MICRO = 2


def region(number, generator, n=64):
    y = torch.randint(3, (n,), generator=generator)
    x = torch.randn(n, 6, generator=generator)
    x[torch.arange(n), y] += 2.5
    return x.roll(number, 1), y


def train_region(net, average, rule, x, y, optimizer, passes=3):
    seen = []
    for _ in range(passes):
        for xb, yb in zip(x.split(16), y.split(16)):
            optimizer.zero_grad()
            for xm, ym in zip(xb.chunk(MICRO), yb.chunk(MICRO)):
                loss = F.cross_entropy(net(xm), ym) / MICRO
                loss.backward()
                seen.append(loss.detach() * MICRO)
            if rule.anchors:
                rule.penalty().backward()
            optimizer.step()
            with torch.no_grad():
                for a, p in zip(average.parameters(), net.parameters()):
                    a.mul_(0.9).add_(p, alpha=0.1)
    return torch.stack(seen).mean().item()


@torch.no_grad()
def accuracy(net, regions):
    return [(net(x).argmax(1) == y).float().mean().item() for x, y in regions]


torch.manual_seed(32)
generator = torch.Generator().manual_seed(32)
net = nn.Sequential(nn.Linear(6, 20), nn.Tanh(), nn.Linear(20, 3))
average = copy.deepcopy(net).requires_grad_(False)
rule = Consolidation(net, strength=20.0)
optimizer = torch.optim.SGD(net.parameters(), lr=0.1, momentum=0.5)
regions = []
for number in range(3):
    regions.append(region(number, generator))
    loss = train_region(net, average, rule, *regions[-1], optimizer)
    rule.remember(*regions[-1])
    print(f"region {number}: loss {loss:.3f}", [f"{a:.2f}" for a in accuracy(average, regions)])
