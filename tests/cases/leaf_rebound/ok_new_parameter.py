# expect: pattern = none
# expect: raises = nothing
import torch
from torch import nn

torch.manual_seed(4)
layer = nn.Linear(6, 2)
for step in range(6):
    x = torch.randn(20, 6)
    loss = nn.functional.cross_entropy(layer(x), (x[:, 0] > 0).long())
    layer.zero_grad()
    loss.backward()
    layer.weight = nn.Parameter(layer.weight - 0.5 * layer.weight.grad)
    layer.bias = nn.Parameter((layer.bias - 0.5 * layer.bias.grad).detach())
    print(step, loss.item())
