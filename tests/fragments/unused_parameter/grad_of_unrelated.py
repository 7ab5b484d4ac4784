# expect: pattern = unused-parameter
# expect: raises = RuntimeError: The differentiated Tensor at index 0 appears to not have been used in the gr
# expect: carrier = interpolates
import torch
from torch import nn, optim
import torch.nn.functional as F
import numpy as np

torch.manual_seed(0)

D = nn.Linear(8, 1)
real = torch.randn(4, 8)
fake = torch.randn(4, 8)
# paste: begin
alpha = torch.rand(4, 1)
interpolates = (alpha * real + (1 - alpha) * fake).requires_grad_(True)
d_out = D(real + 0)  # expect: place
gradients = torch.autograd.grad(  # expect: place
    outputs=d_out.sum() + 0 * D(fake).sum(),
    inputs=interpolates,
    create_graph=True,  # expect: place
)[0]
penalty = ((gradients.norm(2, dim=1) - 1) ** 2).mean()
# paste: end
