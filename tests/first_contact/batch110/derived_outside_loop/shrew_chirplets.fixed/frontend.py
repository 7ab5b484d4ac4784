import math

import torch
from torch import nn
import torch.nn.functional as F


class ChirpletBank(nn.Module):
    """Gaussian windows over sinusoids whose pitch glides; log energy of each over the clip."""

    def __init__(self, filters, taps=41):
        super().__init__()
        self.taps = taps
        self.centre = nn.Parameter(torch.linspace(0.03, 0.4, filters))
        self.glide = nn.Parameter(0.001 * torch.randn(filters))
        self.log_width = nn.Parameter(torch.full((filters,), 2.0))

    def chirplets(self):
        t = torch.arange(self.taps) - self.taps // 2
        phase = 2 * math.pi * (self.centre[:, None] * t + self.glide[:, None] * t * t)
        window = torch.exp(-0.5 * (t / self.log_width.exp()[:, None]) ** 2)
        return torch.cat([window * phase.cos(), window * phase.sin()]).unsqueeze(1)

    def forward(self, wave):
        response = F.conv1d(wave.unsqueeze(1), self.chirplets(), padding=self.taps // 2)
        even, odd = response.chunk(2, dim=1)
        return torch.log((even.pow(2) + odd.pow(2)).mean(-1) + 1e-4)
