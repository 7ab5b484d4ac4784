# expect: pattern = none
# expect: raises = nothing
import torch
from torch import nn

torch.manual_seed(2)
cell, out = nn.GRUCell(3, 8), nn.Linear(8, 3)
opt = torch.optim.Adam([*cell.parameters(), *out.parameters()], lr=1e-2)
curve = []
for epoch in range(10):
    series = torch.randn(7, 4, 3).cumsum(0)
    h = torch.zeros(4, 8)
    losses = []
    for now, nxt in zip(series[:-1], series[1:]):
        h = cell(now, h)
        losses.append((out(h) - nxt).pow(2).mean())
    loss = torch.stack(losses).mean()
    opt.zero_grad()
    loss.backward()
    opt.step()
    curve.append(float(loss))
print(curve[0], curve[-1])
