# expect: pattern = inplace-activation
# expect: raises = RuntimeError: one of the variables needed for gradient computation has been modified by an inplace operation
# expect: carrier = g
import torch
from torch import nn, optim
import torch.nn.functional as F
import numpy as np

torch.manual_seed(0)


# paste: begin
class Gate(nn.Module):
    def __init__(self, in_ch, out_ch):
        super().__init__()
        self.conv = nn.Conv2d(in_ch, out_ch, kernel_size=3, padding=1)
        self.gate = nn.Conv2d(in_ch, out_ch, kernel_size=3, padding=1)

    def forward(self, x):
        g = torch.sigmoid(self.gate(x))
        feat = self.conv(x) * g
        g[:, 0] = 1.0  # expect: place
        return feat + g


# paste: end
Gate(3, 4)(torch.randn(2, 3, 8, 8)).sum().backward()
