# expect: pattern = none
"""Bird calls: an encoder that learns from two heads, walked one by one, and steps behind both."""

import torch
import torch.nn.functional as F
from torch import nn

torch.manual_seed(5)
encoder = nn.Sequential(nn.Linear(12, 16), nn.Tanh())
species, season = nn.Linear(16, 5), nn.Linear(16, 2)
optimizers = {
    part: torch.optim.Adam(part.parameters(), lr=1e-2) for part in (species, season, encoder)
}

for recording in range(10):
    call = torch.randn(20, 12)
    is_spring = (call[:, 0] > 0).long()
    F.cross_entropy(season(encoder(call)), is_spring).backward()
    optimizers[season].step()
    optimizers[season].zero_grad()
    F.cross_entropy(species(encoder(call)), call[:, :5].argmax(1)).backward()
    for part in (species, encoder):
        optimizers[part].step()
        optimizers[part].zero_grad()
