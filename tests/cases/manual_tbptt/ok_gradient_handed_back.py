# expect: pattern = none
# The gradient of a segment's first state is handed to the segment before it, each walked once.
import torch
from torch import nn

torch.manual_seed(0)
cell, readout = nn.GRUCell(3, 8), nn.Linear(8, 1)
optimizer = torch.optim.SGD([*cell.parameters(), *readout.parameters()], lr=0.05)


def forward_segment(xs, start):
    entry = start.detach().requires_grad_()
    state = entry
    for x in xs:
        state = cell(x, state)
    return entry, state


for step in range(4):
    first, second = torch.randn(2, 5, 6, 3)
    entry_a, end_a = forward_segment(first, torch.zeros(6, 8))
    entry_b, end_b = forward_segment(second, end_a)
    loss = (readout(end_b) - second.sum((0, 2)).unsqueeze(1)).pow(2).mean()
    optimizer.zero_grad()
    loss.backward()
    end_a.backward(entry_b.grad)
    optimizer.step()
    print(step, loss.item())
