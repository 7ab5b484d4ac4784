import torch
from torch import nn


class GatedPool(nn.Module):
    """Attention over the bones of one pellet."""

    def __init__(self, width):
        super().__init__()
        self.value = nn.Linear(width, 12)
        self.gate = nn.Linear(width, 12)
        self.rank = nn.Linear(12, 1, bias=False)

    def forward(self, h):
        weights = self.rank(torch.tanh(self.value(h)) * torch.sigmoid(self.gate(h))).softmax(0)
        return (weights * h).sum(0), weights.squeeze(1)


class PelletNet(nn.Module):
    def __init__(self, width=24):
        super().__init__()
        self.bone = nn.Sequential(nn.Linear(10, width), nn.ReLU())
        self.pool = GatedPool(width)
        self.score = nn.Linear(width, 1)

    def forward(self, bones):
        pooled, weights = self.pool(self.bone(bones))
        return self.score(pooled).squeeze(), weights
