# expect: pattern = inplace-leaf
# expect: raises = RuntimeError: a view of a leaf Variable that requires grad is being used in an in-place operation
# expect: carrier = self.prompt
import torch
from torch import nn, optim
import torch.nn.functional as F
import numpy as np

torch.manual_seed(0)

mask = torch.tensor([True, False, True, False, True, False, True, False])


# paste: begin
class Prompt(nn.Module):
    def __init__(self, dim=8):
        super().__init__()
        self.prompt = nn.Parameter(torch.randn(4, dim))

    def forward(self, x):
        self.prompt[0] += x.mean(0)  # expect: place
        return torch.cat([self.prompt, x])


# paste: end
Prompt()(torch.randn(4, 8))
