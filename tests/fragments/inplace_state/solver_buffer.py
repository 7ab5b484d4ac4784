# expect: pattern = inplace-state
# expect: also = inplace-activation, inplace-view
# expect: raises = RuntimeError: one of the variables needed for gradient computation has been modified by an inplace operation
# expect: carrier = ys
import torch
from torch import nn, optim
import torch.nn.functional as F
import numpy as np

torch.manual_seed(0)


# paste: begin
def integrate(f, y0, steps, dt):
    ys = torch.zeros(steps, y0.size(-1))
    ys[0] = y0
    for i in range(1, steps):
        ys[i] = ys[i - 1] + dt * torch.sin(f(ys[i - 1])) * ys[i - 1]  # expect: place
    return ys


# paste: end
net = nn.Linear(8, 8)
integrate(net, torch.randn(8), 5, 0.1).sum().backward()
