import torch
from torch import nn

fc = nn.Linear(3, 2)
for param in fc.parameters():
    param.requires_grad = False
nn.functional.cross_entropy(fc(torch.rand(2, 3)), torch.tensor([0, 1])).backward()
