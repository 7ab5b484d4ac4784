"""A contrastive memory bank that keeps graphs

Features of earlier batches serve as negatives.
"""

from collections import deque

import torch
import torch.nn.functional as F
from torch import nn

torch.manual_seed(0)


class Bank:
    def __init__(self, size):
        self.items = deque(maxlen=size)

    def push(self, features):
        self.items.append(features)

    def negatives(self):
        return torch.cat(list(self.items))


encoder = nn.Sequential(nn.Linear(20, 64), nn.ReLU(), nn.Linear(64, 16))
optimizer = torch.optim.SGD(encoder.parameters(), lr=0.05)
bank = Bank(size=8)

for step in range(12):
    images = torch.randn(32, 20)
    query = F.normalize(encoder(images + 0.1 * torch.randn_like(images)), dim=1)
    key = F.normalize(encoder(images), dim=1)
    bank.push(key)

    positive = (query * key).sum(dim=1, keepdim=True)
    negative = query @ bank.negatives().T
    logits = torch.cat([positive, negative], dim=1) / 0.2
    loss = F.cross_entropy(logits, torch.zeros(32, dtype=torch.long))

    optimizer.zero_grad()
    loss.backward()
    optimizer.step()
    print(f"step {step}: loss {loss.item():.3f}")
