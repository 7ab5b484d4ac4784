# expect: pattern = none
# expect: raises = nothing
import torch
from torch import nn


class Lattice(nn.Module):
    """Writes each row of a grid once and reads only what was stacked before."""

    def __init__(self, d=5):
        super().__init__()
        self.cell, self.out = nn.GRUCell(d, d), nn.Linear(d, 1)

    def forward(self, x):
        h = x.new_zeros(x.size(1), x.size(2))
        canvas = x.new_empty(x.size(0), x.size(1), x.size(2))
        for i, row in enumerate(x):
            h = self.cell(row, h)
            canvas[i] = h
        canvas[..., 0] = canvas[..., 0] * 0.5
        return self.out(canvas).squeeze(-1)


torch.manual_seed(0)
net = Lattice()
opt = torch.optim.RMSprop(net.parameters(), 1e-3)
for _ in range(3):
    x = torch.randn(4, 3, 5)
    loss = net(x).sub(x.sum(-1)).pow_(2).mean()
    opt.zero_grad()
    loss.backward()
    opt.step()
