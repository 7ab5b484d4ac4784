# One layer, two calls on the same input, a backward for each output: two graphs, no quarrel.
import torch
from torch import nn

torch.manual_seed(0)
layer = nn.Linear(3, 2)
opt = torch.optim.SGD(layer.parameters(), lr=0.1)
x = torch.randn(5, 3)
for _ in range(3):
    first = torch.tanh(layer(x))
    second = torch.sigmoid(layer(x))
    opt.zero_grad()
    first.sum().backward()
    second.pow(2).sum().backward()
    opt.step()
