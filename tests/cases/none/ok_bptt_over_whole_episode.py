# expect: pattern = none
# The state is begun anew in each episode, so that no graph outlives its walk.
import torch
from torch import nn


class Memory:
    def __init__(self, cell):
        self.cell, self.state = cell, None

    def __enter__(self):
        self.state = None
        return self

    def __exit__(self, *_):
        self.state = None

    def __call__(self, x):
        self.state = self.cell(x, self.state)
        return self.state[0]


torch.manual_seed(0)
cell, value = nn.LSTMCell(3, 10), nn.Linear(10, 1)
memory = Memory(cell)
opt = torch.optim.Adam([*cell.parameters(), *value.parameters()], lr=3e-3)
for episode in range(4):
    xs = torch.randn(7, 2, 3)
    with memory:
        values = torch.stack([value(memory(x)) for x in xs])
        loss = (values.squeeze(-1) - xs.cumsum(0).sum(-1)).pow(2).mean()
        opt.zero_grad()
        loss.backward()
        opt.step()
    print(episode, loss.item())
