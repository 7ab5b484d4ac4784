# expect: pattern = inplace-state
# expect: also = inplace-activation, inplace-view
# expect: raises = RuntimeError: one of the variables needed for gradient computation has been modified by an inplace operation
# expect: carrier = h
import torch
from torch import nn, optim
import torch.nn.functional as F
import numpy as np

torch.manual_seed(0)

cell = nn.RNNCell(4, 8)
x = torch.randn(5, 2, 4)
batch, hidden_size = 2, 8
# paste: begin
h = torch.zeros(x.size(0) + 1, batch, hidden_size)
for t in range(x.size(0)):
    h[t + 1] = torch.tanh(cell(x[t], h[t]))  # expect: place
loss = h.pow(2).mean()
loss.backward()
# paste: end
