# A view taken once shares memory with its parameter and saves nothing for the way back.
import torch
from torch import nn

torch.manual_seed(0)
table = nn.Parameter(torch.randn(6, 4))
first_half = table[:3]
opt = torch.optim.SGD([table], lr=0.1)
for _ in range(3):
    loss = (first_half - 1.0).pow(2).sum()
    opt.zero_grad()
    loss.backward()
    opt.step()
