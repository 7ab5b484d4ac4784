"""An autoencoder for wine samples with three objectives, each a small record that is walked."""
from dataclasses import dataclass

import torch
from torch import nn


@dataclass
class Objective:
    weight: float
    loss: torch.Tensor


class Wine(nn.Module):
    def __init__(self):
        super().__init__()
        self.encode = nn.Sequential(nn.Linear(9, 5), nn.Tanh())
        self.decode = nn.Linear(5, 9)
        self.grade = nn.Linear(5, 1)

    def objectives(self, x, grade):
        code = self.encode(x)
        return [
            Objective(1.0, (self.decode(code) - x).pow(2).mean()),
            Objective(0.5, (self.grade(code).squeeze(1) - grade).abs().mean()),
            Objective(0.01, code.abs().mean()),
        ]


torch.manual_seed(19)
wine = Wine()
optimizer = torch.optim.RMSprop(wine.parameters(), lr=1e-3)
for step in range(7):
    x = torch.randn(30, 9)
    optimizer.zero_grad()
    total = 0.0
    for objective in wine.objectives(x, x[:, 0] - x[:, 3]):
        total = total + objective.loss
    total.backward()
    optimizer.step()
    print(step, round(objective.loss.item(), 5))
