# expect: pattern = derived-outside-loop
# expect: raises = RuntimeError: Trying to backward through the graph a second time
# expect: carrier = beams, self.beams
"""Mirrors of a solar tower: where their beams go is worked out once, from angles that are learnt."""
import torch
from torch import nn


class Field:
    def __init__(self, angles, places):
        self.places = places
        self.angles = angles
        self.beams = torch.stack([angles.cos(), angles.sin()], dim=1) + places  # expect: place

    def some(self, count):
        picked = torch.randperm(len(self.places))[:count]
        beams = self.beams[picked]  # expect: place
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
    loss.backward()  # expect: place
    optimizer.step()
    print(step, round(loss.item(), 4))
