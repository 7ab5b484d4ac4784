# expect: pattern = inplace-activation
# expect: raises = RuntimeError: one of the variables needed for gradient computation has been modified by an inplace operation
# expect: carrier = attn
import torch
from torch import nn, optim
import torch.nn.functional as F
import numpy as np

torch.manual_seed(0)


# paste: begin
def attention(q, k, v, mask):
    scores = torch.matmul(q, k.transpose(-2, -1)) / 8**0.5
    attn = F.softmax(scores, dim=-1)
    attn[mask] = 0  # expect: place
    return torch.matmul(attn, v)


# paste: end
q = torch.randn(2, 4, 8, requires_grad=True)
attention(q, torch.randn(2, 4, 8), torch.randn(2, 4, 8), torch.rand(2, 4, 4) > 0.5).sum().backward()
