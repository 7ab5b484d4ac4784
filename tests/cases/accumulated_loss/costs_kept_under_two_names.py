# expect: pattern = accumulated-loss
# expect: also = stored-graph
# expect: raises = RuntimeError: Trying to backward through the graph a second time
# expect: carrier = costs, kept
"""Quantile regression with one update for every three readings of a sensor."""
import torch
from torch import nn

torch.manual_seed(4)
QUANTILE, EVERY = 0.8, 3
net = nn.Sequential(nn.Linear(3, 10), nn.SiLU(), nn.Linear(10, 1))
optimizer = torch.optim.Adam(net.parameters(), lr=0.01)

kept = list()
costs = kept
for reading in range(9):
    features, level = torch.randn(8, 3), torch.randn(8, 1)
    gap = level - net(features)
    costs.append(torch.maximum(QUANTILE * gap, (QUANTILE - 1) * gap).mean())  # expect: place
    if (reading + 1) % EVERY == 0:
        optimizer.zero_grad()
        sum(costs).backward()  # expect: place
        optimizer.step()
        print(reading, len(costs))
