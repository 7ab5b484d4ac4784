"""Rehearsal of leaf classes: a reservoir keeps what the network said of each leaf, in columns."""
import random

import torch
import torch.nn.functional as F
from torch import nn


class Reservoir:
    def __init__(self, size):
        self.size, self.seen, self.items = size, 0, []

    def __len__(self):
        return len(self.items)

    def add(self, *columns):
        for row in zip(*columns):
            if len(self.items) < self.size:
                self.items.append(row)
            elif (k := random.randint(0, self.seen)) < self.size:
                self.items[k] = row
            self.seen += 1

    def sample(self, n):
        return tuple(torch.stack(column) for column in zip(*random.choices(self.items, k=n)))


def observe(net, opt, buf, leaf, kind):
    logits = net(leaf).detach()
    loss = F.cross_entropy(logits, kind).requires_grad_()
    if len(buf):
        old, _, said = buf.sample(8)
        loss = loss + 0.3 * F.mse_loss(net(old), said)
    opt.zero_grad()
    loss.backward()
    opt.step()
    buf.add(leaf, kind, logits)


torch.manual_seed(0)
random.seed(0)
net = nn.Sequential(nn.Linear(6, 16), nn.ReLU(), nn.Linear(16, 3))
opt = torch.optim.SGD(net.parameters(), lr=0.03)
buf = Reservoir(40)
for step in range(12):
    observe(net, opt, buf, torch.randn(8, 6), torch.randint(0, 3, (8,)))
