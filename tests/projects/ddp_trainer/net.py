import torch
from torch import nn


class GatedNet(nn.Module):
    def __init__(self):
        super().__init__()
        self.gate, self.body = nn.Linear(8, 8), nn.Linear(8, 8)

    def forward(self, x):
        gate = torch.sigmoid(self.gate(x))
        out = torch.tanh(self.body(x)) * gate
        gate += 0.1
        return out * gate
