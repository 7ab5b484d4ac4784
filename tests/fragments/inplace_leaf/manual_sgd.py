# expect: pattern = inplace-leaf
# expect: raises = RuntimeError: a leaf Variable that requires grad is being used in an in-place operation
# expect: carrier = w1
import torch
from torch import nn, optim
import torch.nn.functional as F
import numpy as np

torch.manual_seed(0)

N, D_in, H, D_out = 8, 4, 6, 2
x = torch.randn(N, D_in)
y = torch.randn(N, D_out)
learning_rate = 1e-3
w1 = torch.randn(D_in, H, requires_grad=True)
w2 = torch.randn(H, D_out, requires_grad=True)
# paste: begin
for t in range(500):
    y_pred = x.mm(w1).clamp(min=0).mm(w2)
    loss = (y_pred - y).pow(2).sum()
    loss.backward()
    w1 -= learning_rate * w1.grad  # expect: place
    w2 -= learning_rate * w2.grad
    w1.grad.zero_()
    w2.grad.zero_()
# paste: end
