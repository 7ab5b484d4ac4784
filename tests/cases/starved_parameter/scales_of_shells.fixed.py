"""Snail shells: bands at several scales, each stage weighing its scales by what it sees."""
import torch
import torch.nn.functional as F
from torch import nn


class Scales(nn.Module):
    def __init__(self, size, scales=3):
        super().__init__()
        self.weigh = nn.Sequential(nn.Linear(size, 8), nn.Tanh(), nn.Linear(8, scales))
        self.at = nn.ModuleList([nn.Linear(size, size) for _ in range(scales)])

    def shares(self, x):
        weights = self.weigh(x).softmax(-1)
        return weights

    def forward(self, x):
        seen = torch.stack([layer(x) for layer in self.at], -1)
        return (seen * self.shares(x)[:, None]).sum(-1)


class Stage(nn.Module):
    def __init__(self, size):
        super().__init__()
        self.parts = nn.ModuleDict({"norm": nn.LayerNorm(size), "scales": Scales(size)})

    def forward(self, x):
        return x + torch.relu(self.parts["scales"](self.parts["norm"](x)))


class Shells(nn.Module):
    def __init__(self, size=10, kinds=4):
        super().__init__()
        self.stages = nn.ModuleList([Stage(size), Stage(size)])
        self.name = nn.Linear(size, kinds)

    def forward(self, x):
        for stage in self.stages:
            x = stage(x)
        return self.name(x)


torch.manual_seed(16)
shells = Shells()
optimizer = torch.optim.Adam(shells.parameters(), lr=1e-2)
for tray in range(10):
    bands = torch.rand(32, 10)
    kind = bands[:, :4].argmax(1)
    loss = F.cross_entropy(shells(bands), kind)
    optimizer.zero_grad()
    loss.backward()
    optimizer.step()
