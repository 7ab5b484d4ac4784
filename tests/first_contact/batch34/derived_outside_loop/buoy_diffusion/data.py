import math

import torch
from torch import nn
from torch.utils.data import Dataset


def raw_records(n, length=48, seed=0):
    """Heave of a wave buoy: two wave trains with random heights."""
    g = torch.Generator().manual_seed(seed)
    t = torch.arange(length) / length * 2 * math.pi
    height = 0.5 + torch.rand(n, 2, 1, generator=g)
    phase = 2 * math.pi * torch.rand(n, 2, 1, generator=g)
    freq = torch.tensor([3.0, 7.0]).view(1, 2, 1)
    heave = (height * torch.sin(freq * t + phase)).sum(1)
    return heave + 0.05 * torch.randn(n, length, generator=g)


class BuoyRecords(Dataset):
    """The diffusion model wants `channels` channels of even length; buoys give one. `adapter` makes the shape fit."""

    def __init__(self, records, adapter: nn.Module):
        x = (records - records.mean()) / records.std()
        self.samples = adapter(x.unsqueeze(1))  # expect: place

    def __len__(self):
        return self.samples.shape[0]

    def __getitem__(self, index):
        return self.samples[index]  # expect: place
