# expect: pattern = inplace-activation
# expect: raises = RuntimeError: one of the variables needed for gradient computation has been modified by an inplace operation
# expect: carrier = out
import torch
from torch import nn, optim
import torch.nn.functional as F
import numpy as np

torch.manual_seed(0)


# paste: begin
class ResBlock(nn.Module):
    def __init__(self, ch):
        super(ResBlock, self).__init__()
        self.conv1 = nn.Conv2d(ch, ch, 3, padding=1)
        self.conv2 = nn.Conv2d(ch, ch, 3, padding=1)

    def forward(self, x):
        out = torch.sigmoid(self.conv1(x))
        residual = self.conv2(out)
        out += residual  # expect: place
        return out


# paste: end
b = ResBlock(3)
b(torch.randn(2, 3, 8, 8)).sum().backward()
