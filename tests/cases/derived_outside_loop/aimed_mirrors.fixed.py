"""Mirrors of a solar tower: where their beams go is worked out once, from angles that are learnt."""
import torch
from torch import nn


class Field:
    def __init__(self, angles, places):
        self.places = places
        self.angles = angles

    def some(self, count):
        picked = torch.randperm(len(self.places))[:count]
        beams = torch.stack([self.angles.cos(), self.angles.sin()], dim=1)[picked] + self.places[picked]
        return beams, self.places[picked]


torch.manual_seed(12)
angles = nn.Parameter(torch.rand(30))
field = Field(angles, torch.rand(30, 2))
receiver = nn.Linear(2, 1)
optimizer = torch.optim.Adam([angles, *receiver.parameters()], lr=0.01)
for step in range(12):
    beams, places = field.some(16)
    loss = (receiver(beams).squeeze(1) - places.sum(1)).pow(2).mean()
    optimizer.zero_grad()
    loss.backward()
    optimizer.step()
    print(step, round(loss.item(), 4))
