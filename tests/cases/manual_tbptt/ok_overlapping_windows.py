# k2 > k1: the windows overlap on purpose, so the segments are walked more than once, retained.
import torch
from torch import nn

torch.manual_seed(0)
cell, head = nn.GRUCell(3, 8), nn.Linear(8, 3)
optimizer = torch.optim.SGD([*cell.parameters(), *head.parameters()], lr=0.05)
k1, k2 = 2, 4
xs = torch.randn(12, 5, 3)
segments = [(None, torch.zeros(5, 8))]
optimizer.zero_grad()
for t, x in enumerate(xs[:-1], 1):
    before = segments[-1][1].detach().requires_grad_()
    after = cell(x, before)
    segments = (segments + [(before, after)])[-k2:]
    if t % k1 == 0:
        (head(after) - xs[t]).pow(2).mean().backward(retain_graph=True)
        for newer, older in zip(segments[:0:-1], segments[-2::-1]):
            if older[0] is None:
                break
            older[1].backward(newer[0].grad, retain_graph=True)
            newer[0].grad = None
optimizer.step()  # one step for the whole recording
