"""A window of the last two LSTM states; the oldest one feeds the next step."""

from collections import deque

import torch
from torch import nn

torch.manual_seed(2)
cell = nn.LSTMCell(3, 5)
readout = nn.Linear(5, 1)
params = [*cell.parameters(), *readout.parameters()]
opt = torch.optim.SGD(params, lr=0.1)

window = deque(maxlen=2)
for _ in range(2):
    window.append((torch.zeros(2, 5), torch.zeros(2, 5)))

for step in range(6):
    x = torch.randn(2, 3)
    target = torch.randn(2, 1)
    state = cell(x, window[0])
    window.append(state)
    error = (readout(state[0]) - target).pow(2).mean()
    opt.zero_grad()
    error.backward()
    opt.step()
