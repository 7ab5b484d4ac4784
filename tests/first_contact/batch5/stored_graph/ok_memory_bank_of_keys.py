"""Contrastive features of fabrics with a bank of earlier keys from a slow encoder."""
import copy

import torch
import torch.nn as nn
import torch.nn.functional as F


class Bank:
    def __init__(self, size, d):
        self.keys = F.normalize(torch.randn(size, d), dim=1)
        self.at = 0

    def put(self, k):
        n = len(k)
        self.keys[self.at:self.at + n] = k
        self.at = (self.at + n) % len(self.keys)


def views(n):
    base = torch.randn(n, 10)
    return base + 0.1 * torch.randn(n, 10), base + 0.1 * torch.randn(n, 10)


torch.manual_seed(91)
query = nn.Sequential(nn.Linear(10, 24), nn.ReLU(), nn.Linear(24, 6))
key = copy.deepcopy(query)
for p in key.parameters():
    p.requires_grad = False
bank, opt, T = Bank(32, 6), torch.optim.SGD(query.parameters(), lr=0.1, momentum=0.9), 0.2
for it in range(12):
    a, b = views(8)
    q = F.normalize(query(a), dim=1)
    k = F.normalize(key(b), dim=1)
    logits = torch.cat([(q * k).sum(1, keepdim=True), q @ bank.keys.clone().t()], 1) / T
    loss = F.cross_entropy(logits, torch.zeros(8, dtype=torch.long))
    opt.zero_grad()
    loss.backward()
    opt.step()
    for p, s in zip(query.parameters(), key.parameters()):
        s.data = 0.9 * s.data + 0.1 * p.data
    bank.put(k)
print(round(loss.item(), 4))
