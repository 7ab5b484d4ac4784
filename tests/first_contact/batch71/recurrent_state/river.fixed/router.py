"""Learned routing of water through a basin."""
import torch
from torch import nn


class Rainfall(nn.Module):
    """Embeds the rain forecast of a reach."""

    def __init__(self, dim):
        super().__init__()
        self.level = nn.Linear(2, dim)

    def forward(self, rain, slope):
        return torch.relu(self.level(torch.stack([rain, torch.tensor(slope)])))


class Router(nn.Module):
    def __init__(self, dim):
        super().__init__()
        self.dim = dim
        self.rain = Rainfall(dim)
        self.cell = nn.GRUCell(2 * dim, dim)
        self.stage = nn.Linear(dim, 1)
        self.level = nn.Parameter(torch.zeros(1))

    def forward(self, basin, rain):
        """One hour. Returns the predicted stage of every reach."""
        stages = []
        for reach in basin.reaches:
            inflow = torch.zeros(self.dim)
            for up in reach.upstream:
                inflow = inflow + up.level
            drive = torch.cat([self.rain(rain[reach.rid], reach.slope), inflow])
            reach.level = self.cell(drive, reach.level)
            stages.append(self.stage(reach.level).squeeze(-1) + self.level)
        return torch.stack(stages)
