# expect: pattern = inplace-activation
# expect: raises = RuntimeError: one of the variables needed for gradient computation has been modified by an inplace operation
# expect: carrier = y
import torch
from torch import nn, optim
import torch.nn.functional as F
import numpy as np

torch.manual_seed(0)


# paste: begin
class Block(nn.Module):
    def __init__(self, inp, oup):
        super().__init__()
        self.fc = nn.Linear(inp, oup)
        self.norm = nn.LayerNorm(oup)
        self.act = nn.Sigmoid()

    def forward(self, x):
        y = self.act(self.norm(self.fc(x)))
        y.mul_(2)  # expect: place
        return y


# paste: end
Block(6, 8)(torch.randn(3, 6)).sum().backward()
