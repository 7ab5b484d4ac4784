"""A residual network that adds in place

A gate multiplies by its own activation, which is changed before the backward.
"""

import torch
from torch import nn

torch.manual_seed(0)


class GatedBlock(nn.Module):
    def __init__(self, width):
        super().__init__()
        self.inner = nn.Linear(width, width)
        self.gate = nn.Linear(width, width)

    def forward(self, inputs):
        hidden = torch.sigmoid(self.inner(inputs))
        mixed = hidden * torch.sigmoid(self.gate(inputs))
        hidden += inputs
        return mixed + hidden


model = nn.Sequential(nn.Linear(10, 24), GatedBlock(24), GatedBlock(24), nn.Linear(24, 1))
optimizer = torch.optim.SGD(model.parameters(), lr=0.01)

for step in range(10):
    inputs = torch.randn(32, 10)
    target = inputs.prod(dim=1, keepdim=True)
    loss = nn.functional.mse_loss(model(inputs), target)
    optimizer.zero_grad()
    loss.backward()
    optimizer.step()
    print(f"step {step}: loss {loss.item():.3f}")
