"""Temporal convolutions on the thermocouples of a bakery's tunnel oven; a slow copy of the network gives
targets where the core probe was not in."""
import copy
import math

import torch
import torch.nn as nn
import torch.nn.functional as F
from torch.nn.utils.parametrizations import weight_norm


class Chomp1d(nn.Module):
    def __init__(self, size):
        super().__init__()
        self.size = size

    def forward(self, x):
        return x[:, :, :-self.size]


class TemporalBlock(nn.Module):
    def __init__(self, n_in, n_out, dilation, kernel=3):
        super().__init__()
        pad = (kernel - 1) * dilation
        self.conv1 = weight_norm(nn.Conv1d(n_in, n_out, kernel, padding=pad, dilation=dilation))
        self.conv2 = weight_norm(nn.Conv1d(n_out, n_out, kernel, padding=pad, dilation=dilation))
        self.net = nn.Sequential(self.conv1, Chomp1d(pad), nn.ReLU(), self.conv2, Chomp1d(pad), nn.ReLU())
        self.skip = nn.Conv1d(n_in, n_out, 1)

    def forward(self, x):
        return F.relu(self.net(x) + self.skip(x))


class OvenTCN(nn.Module):
    def __init__(self, channels=(8, 8)):
        super().__init__()
        sizes = (4,) + channels
        self.blocks = nn.Sequential(*[TemporalBlock(a, b, 2 ** i)
                                      for i, (a, b) in enumerate(zip(sizes, sizes[1:]))])
        self.head = nn.Conv1d(channels[-1], 1, 1)

    def forward(self, x):
        return self.head(self.blocks(x)).squeeze(1)


class MeanTeacher:
    def __init__(self, student, decay=0.9):
        self.student, self.decay = student, decay
        self.teacher = copy.deepcopy(student).requires_grad_(False)

    @torch.no_grad()
    def update(self):
        for slow, fast in zip(self.teacher.parameters(), self.student.parameters()):
            slow.lerp_(fast, 1 - self.decay)

    @torch.no_grad()
    def targets(self, x):
        return self.teacher(x)


def bake(n, gen, length=24):
    t = torch.linspace(0, 1, length)
    belt = 0.5 + torch.rand(n, 1, generator=gen)
    zones = torch.stack([torch.exp(-((t * belt - c) / 0.3) ** 2) for c in (0.1, 0.4, 0.7, 1.0)], 1)
    core = torch.cumsum(zones.mean(1), 1) / math.sqrt(length)
    probed = torch.rand(n, length, generator=gen) < 0.3
    return zones + 0.05 * torch.randn(zones.shape, generator=gen), core, probed


def main():
    torch.manual_seed(180)
    gen = torch.Generator().manual_seed(5)
    model = OvenTCN()
    slow = MeanTeacher(model)
    optimizer = torch.optim.Adam(model.parameters(), lr=1e-2)
    for step in range(12):
        zones, core, probed = bake(16, gen)
        out = model(zones)
        noisy = zones + 0.1 * torch.randn(zones.shape, generator=gen)
        agree = (out - slow.targets(noisy)).square()
        loss = (out - core).square()[probed].mean() + 0.5 * agree[~probed].mean()
        optimizer.zero_grad()
        loss.backward()
        optimizer.step()
        slow.update()
        if step % 4 == 3:
            print(f"batch {step + 1}: {loss.item():.4f}")


main()
