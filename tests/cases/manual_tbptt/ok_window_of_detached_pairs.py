# expect: pattern = none
# k1 = k2: each window starts from a detached state, and is walked once by its last loss.
import torch
from torch import nn


class Window:
    def __init__(self, cell, head, size):
        self.cell, self.head, self.size = cell, head, size
        self.losses = []

    def run(self, xs, ys, state, optimizer):
        for t, (x, y) in enumerate(zip(xs, ys), start=1):
            state = self.cell(x, state)
            self.losses.append((self.head(state[0]) - y).pow(2).mean())
            if t % self.size == 0:
                optimizer.zero_grad()
                torch.stack(self.losses).mean().backward()
                optimizer.step()
                self.losses = []
                state = tuple(s.detach() for s in state)
        return state


torch.manual_seed(0)
cell, head = nn.LSTMCell(2, 10), nn.Linear(10, 1)
opt = torch.optim.Adam([*cell.parameters(), *head.parameters()], lr=1e-2)
window = Window(cell, head, 4)
state = (torch.zeros(3, 10), torch.zeros(3, 10))
for epoch in range(2):
    xs = torch.randn(12, 3, 2)
    state = window.run(xs, xs.cumsum(0).sum(-1, keepdim=True), state, opt)
print(state[0].norm().item())
