import torch
from torch import nn
from collections import deque

torch.manual_seed(0)
encoder = nn.Linear(5, 4)
optimizer = torch.optim.SGD(encoder.parameters(), lr=0.1)
queue = deque(maxlen=3)
for _ in range(6):
    keys = nn.functional.normalize(encoder(torch.randn(4, 5)), dim=1)
    negatives = torch.cat(list(queue)) if queue else torch.randn(4, 4)
    loss = torch.logsumexp(keys @ negatives.t(), dim=1).mean() - keys.square().sum(1).sqrt().mean()
    optimizer.zero_grad()
    loss.backward()
    optimizer.step()
    queue.append(keys.detach())
