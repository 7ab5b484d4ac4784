"""One named tuple of tensors a layer, in a list that each step renews."""

from typing import NamedTuple

import torch
from torch import nn


class LayerState(NamedTuple):
    key: torch.Tensor
    value: torch.Tensor
    position: int


class Layer(nn.Module):
    def __init__(self):
        super().__init__()
        self.k = nn.Linear(4, 4)
        self.v = nn.Linear(4, 4)

    def forward(self, x, state):
        key = torch.tanh(self.k(x) + state.key)
        value = torch.tanh(self.v(x) + state.value)
        out = torch.softmax(key, -1) * value
        return out, LayerState(key, value, state.position + 1)


layers = nn.ModuleList(Layer() for _ in range(2))
optimizer = torch.optim.SGD(layers.parameters(), lr=0.05)
states = [LayerState(torch.zeros(3, 4), torch.zeros(3, 4), 0) for _ in layers]
torch.manual_seed(4)
for batch in torch.randn(5, 3, 4):
    x, renewed = batch, []
    for layer, state in zip(layers, states):
        x, state = layer(x, state)
        renewed.append(state)
    states = renewed
    loss = (x - batch.roll(1)).square().mean()
    optimizer.zero_grad()
    loss.backward()
    optimizer.step()
