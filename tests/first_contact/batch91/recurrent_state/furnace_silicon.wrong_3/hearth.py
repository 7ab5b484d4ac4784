"""A furnace as we see it: a hearth that mixes slowly, and a ladle that is analysed."""
import torch
from torch import nn


class Hearth(nn.Module):
    def __init__(self, signals, width):
        super().__init__()
        self.width = width
        self.burden = nn.Sequential(nn.Linear(signals, width), nn.Tanh(), nn.Linear(width, width))
        self.inertia = nn.Parameter(torch.linspace(0.0, 2.0, width))
        self.melt = None

    def blow_in(self, furnaces):
        self.melt = torch.zeros(furnaces, self.width)

    def forward(self, charges):
        inertia = torch.sigmoid(self.inertia)
        melt = self.melt
        for charge in charges.unbind(1):
            melt = inertia * melt + (1 - inertia) * torch.tanh(self.burden(charge))
        self.melt = melt
        return melt


class SiliconModel(nn.Module):
    def __init__(self, signals, width=10):
        super().__init__()
        self.hearth = Hearth(signals, width)
        self.ladle = nn.Linear(width, 1)

    def forward(self, charges):
        return 0.5 + self.ladle(self.hearth(charges)).squeeze(-1)
