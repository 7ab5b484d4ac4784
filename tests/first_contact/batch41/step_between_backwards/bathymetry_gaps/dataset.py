import math

import torch
from torch.utils.data import Dataset


class SeaFloor(Dataset):
    """Ridges and troughs from a few random waves, with stripes that the echo sounder missed."""

    def __init__(self, length, size=16, seed=0):
        self.generator = torch.Generator().manual_seed(seed)
        self.size = size
        self.items = [self._draw() for _ in range(length)]

    def _draw(self):
        y, x = torch.meshgrid(torch.linspace(0, 1, self.size), torch.linspace(0, 1, self.size), indexing="ij")
        depth = torch.zeros(self.size, self.size)
        for _ in range(3):
            a, b, phase = torch.rand(3, generator=self.generator)
            depth += torch.sin(2 * math.pi * (2 * a * x + 2 * b * y + phase)) / 3
        mask = torch.zeros_like(depth)
        start = int(torch.randint(0, self.size - 5, (1,), generator=self.generator))
        mask[:, start:start + 5] = 1
        return depth.unsqueeze(0), mask.unsqueeze(0)

    def __len__(self):
        return len(self.items)

    def __getitem__(self, index):
        return self.items[index]
