"""The players: what a farm plants, and how it decides on its pumps."""
from dataclasses import dataclass, field

import torch
from torch import nn


class PumpRule(nn.Module):
    """From the water table, the season and the forecast to a pumping rate."""

    def __init__(self, hidden=16, most=1.5):
        super().__init__()
        self.most = most
        self.net = nn.Sequential(nn.Linear(4, hidden), nn.Tanh(), nn.Linear(hidden, hidden), nn.Tanh(), nn.Linear(hidden, 1))

    def forward(self, level, season, forecast):
        phase = torch.full_like(level, 1.5708 * season)
        seen = torch.stack([level, phase.sin(), phase.cos(), forecast], -1)
        return self.most * torch.sigmoid(self.net(seen).squeeze(-1))


@dataclass
class Farm:
    name: str
    thirst: float  # value of the first unit of water
    depth: float  # of its well, which sets the cost of lifting
    rule: PumpRule = field(default_factory=PumpRule)
    optimizer: torch.optim.Optimizer = None

    def __post_init__(self):
        self.optimizer = torch.optim.RMSprop(self.rule.parameters(), lr=3e-3)

    def income(self, pumped, level):
        harvest = self.thirst * torch.log1p(2.0 * pumped)
        lifting = 0.6 * pumped * (self.depth - level)
        return harvest - lifting
