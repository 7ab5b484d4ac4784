import torch
from torch import nn

class State:
    def __init__(self, h, c):
        self.h, self.c = h, c
    def detach(self):
        return State(self.h.detach(), self.c.detach())

torch.manual_seed(0)
cell = nn.LSTMCell(3, 4)
out = nn.Linear(4, 1)
opt = torch.optim.SGD([*cell.parameters(), *out.parameters()], lr=0.1)
state = State(torch.zeros(2, 4), torch.zeros(2, 4))
for _ in range(4):
    state = state.detach()
    h, c = cell(torch.randn(2, 3), (state.h, state.c))
    state = State(h, c)
    loss = out(h).pow(2).mean()
    opt.zero_grad()
    loss.backward()
    opt.step()
