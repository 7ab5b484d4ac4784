"""Layers for sets of different sizes; padded members take no part in any statistic."""
import torch
from torch import nn


class MaskedBatchNorm(nn.Module):
    def __init__(self, features, momentum=0.1, eps=1e-5):
        super().__init__()
        self.gain = nn.Parameter(torch.ones(features))
        self.shift = nn.Parameter(torch.zeros(features))
        self.register_buffer("running_mean", torch.zeros(features))
        self.register_buffer("running_var", torch.ones(features))
        self.momentum = momentum
        self.eps = eps

    def forward(self, x, mask):
        if self.training:
            weight = mask.unsqueeze(-1)
            count = weight.sum()
            mean = (x * weight).sum((0, 1)) / count
            var = ((x - mean) ** 2 * weight).sum((0, 1)) / count
            with torch.no_grad():
                self.running_mean = (1 - self.momentum) * self.running_mean + self.momentum * mean
                self.running_var = (1 - self.momentum) * self.running_var + self.momentum * var * count / (count - 1)
        else:
            mean, var = self.running_mean, self.running_var
        return self.gain * (x - mean) / torch.sqrt(var + self.eps) + self.shift


class PointBlock(nn.Module):
    def __init__(self, n_in, n_out):
        super().__init__()
        self.lin = nn.Linear(n_in, n_out, bias=False)
        self.norm = MaskedBatchNorm(n_out)

    def forward(self, x, mask):
        return torch.relu(self.norm(self.lin(x), mask))


class SchoolNet(nn.Module):
    def __init__(self, features=4, widths=(16, 24), classes=3):
        super().__init__()
        sizes = [features, *widths]
        self.blocks = nn.ModuleList(PointBlock(a, b) for a, b in zip(sizes, widths))
        self.head = nn.Linear(2 * widths[-1], classes)

    def forward(self, x, mask):
        for block in self.blocks:
            x = block(x, mask)
        weight = mask.unsqueeze(-1)
        mean = (x * weight).sum(1) / weight.sum(1)
        peak = x.masked_fill(weight == 0, float("-inf")).amax(1)
        return self.head(torch.cat([mean, peak], -1))
