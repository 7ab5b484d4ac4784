# expect: pattern = derived-outside-loop
# expect: raises = RuntimeError: Trying to backward through the graph a second time
# expect: carrier = filters, self.filters
"""A bank of learned band-pass filters: two methods use what the constructor made of its arguments."""
import math

import torch
from torch import nn


class BandPass(nn.Module):
    def __init__(self, bands, taps, rate=16.0):
        super().__init__()
        self.centers = nn.Parameter(torch.linspace(0.5, 6.0, bands))
        self.rate = rate
        time = (torch.arange(taps) - taps // 2) / rate
        self.filters = torch.cos(2 * math.pi * self.centers[:, None] * time) * torch.hann_window(taps)  # expect: place

    def energy(self):
        return self.filters.pow(2).sum(1)  # expect: place

    def forward(self, wave):
        bands = nn.functional.conv1d(wave[:, None], self.filters[:, None])  # expect: place
        return bands.pow(2).mean(-1) / self.energy()


def tone(n):
    pitch = 1 + 4 * torch.rand(n, 1)
    return torch.sin(2 * math.pi * pitch * torch.arange(64) / 16.0), (pitch > 3).long().squeeze(1)


torch.manual_seed(6)
bank = BandPass(bands=5, taps=17)
classify = nn.Linear(5, 2)
optimizer = torch.optim.Adam([*bank.parameters(), *classify.parameters()], lr=2e-2)
for step in range(7):
    wave, label = tone(24)
    loss = nn.functional.cross_entropy(classify(bank(wave).log1p()), label)
    optimizer.zero_grad()
    loss.backward()  # expect: place
    optimizer.step()
    print(step, round(loss.item(), 4))
