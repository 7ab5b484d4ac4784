# expect: pattern = none
# expect: raises = nothing
"""Set prediction: the assignment is found outside the graph, the loss inside."""
from itertools import permutations

import torch
from torch import nn

torch.manual_seed(3)
slots = nn.Linear(8, 4 * 2)
opt = torch.optim.Adam(slots.parameters(), lr=1e-2)


def match(cost):
    cost = cost.detach().cpu().numpy()
    n = len(cost)
    return list(min(permutations(range(n)), key=lambda order: sum(cost[i, j] for i, j in enumerate(order))))


for step in range(4):
    image, points = torch.randn(8), torch.rand(4, 2)
    predicted = slots(image).view(4, 2).sigmoid()
    order = match(torch.cdist(predicted, points))
    loss = (predicted - points[order]).abs().sum()
    opt.zero_grad()
    loss.backward()
    opt.step()
    print(step, loss.item())
