"""Recommender with a graph convolution; the best epoch's model is kept for the final test."""
import copy
import math
from dataclasses import dataclass, field
from typing import Optional

import torch
import torch.nn as nn
import torch.nn.functional as F


@dataclass
class Best:
    score: float = -math.inf
    epoch: int = -1
    model: Optional[nn.Module] = field(default=None, repr=False)

    def offer(self, score, epoch, model):
        if score > self.score:
            self.score, self.epoch = score, epoch
            self.model = copy.deepcopy(model)


class Propagation(nn.Module):
    def __init__(self, adjacency, users, items, d=8, layers=2):
        super().__init__()
        self.register_buffer("adjacency", adjacency)
        self.table = nn.Parameter(0.1 * torch.randn(users + items, d))
        self.users, self.layers = users, layers
        self.last = None

    def forward(self):
        outs = [self.table]
        for _ in range(self.layers):
            outs.append(self.adjacency @ outs[-1])
        self.last = torch.stack(outs).mean(0).detach().requires_grad_()
        return self.last[:self.users], self.last[self.users:]

    @torch.no_grad()
    def score(self, user, item):
        """Uses what the last forward propagated."""
        return (self.last[user] * self.last[self.users + item]).sum(-1)


def normalised(u, i, users, items):
    a = torch.zeros(users + items, users + items)
    a[u, users + i] = a[users + i, u] = 1.0
    d = a.sum(1).clamp(min=1).rsqrt()
    return d[:, None] * a * d


def bpr(user, pos, neg):
    return -F.logsigmoid((user * pos).sum(-1) - (user * neg).sum(-1)).mean()


def main(users=12, items=20, epochs=4):
    torch.manual_seed(18)
    u = torch.arange(users).repeat_interleave(5)
    i = (u * 3 + torch.randint(0, 6, u.shape)) % items
    net = Propagation(normalised(u[::2], i[::2], users, items), users, items)
    opt = torch.optim.Adam(net.parameters(), lr=0.05)
    best = Best()
    for epoch in range(epochs):
        eu, ei = net()
        neg = torch.randint(0, items, u[::2].shape)
        loss = bpr(eu[u[::2]], ei[i[::2]], ei[neg])
        opt.zero_grad()
        loss.backward()
        opt.step()
        held = net.score(u[1::2], i[1::2]) > net.score(u[1::2], torch.randint(0, items, u[1::2].shape))
        best.offer(held.float().mean().item(), epoch, net)
    print(best, "test", best.model.score(u[1::2], i[1::2]).mean().item())


if __name__ == "__main__":
    main()
