"""Learned rotary frequencies: the table of angles is made when the layer is."""
import torch
from torch import nn


class Rotary(nn.Module):
    def __init__(self, length, pairs):
        super().__init__()
        self.rates = nn.Parameter(torch.linspace(-1.0, 1.0, pairs))
        self.length = length

    def forward(self, x):
        positions = torch.arange(self.length).float()
        self.angles = torch.outer(positions, self.rates.exp())
        even, odd = x[..., ::2], x[..., 1::2]
        cos, sin = self.angles.cos(), self.angles.sin()
        return torch.cat([even * cos - odd * sin, even * sin + odd * cos], -1)


torch.manual_seed(41)
rotary, readout = Rotary(12, 4), nn.Linear(8, 3)
optimizer = torch.optim.Adam([*rotary.parameters(), *readout.parameters()], lr=1e-2)
for step in range(8):
    tokens, labels = torch.randn(6, 12, 8), torch.randint(0, 3, (6, 12))
    loss = nn.functional.cross_entropy(readout(rotary(tokens)).flatten(0, 1), labels.flatten())
    optimizer.zero_grad()
    loss.backward()
    optimizer.step()
    print(step, round(loss.item(), 4))
