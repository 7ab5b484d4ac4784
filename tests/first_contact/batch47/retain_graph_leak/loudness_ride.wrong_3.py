"""A learned loudness rider: leaky detectors follow a long recording, block by block."""
import math
from typing import Iterator, NamedTuple

import torch
import torch.nn as nn


class Block(NamedTuple):
    frames: torch.Tensor      # (time, bands)
    fader: torch.Tensor       # (time,) what the engineer did


def recording(blocks: int, time: int = 12, bands: int = 6) -> Iterator[Block]:
    slow = 0.0
    for b in range(blocks):
        swell = 1 + 0.5 * torch.sin(torch.arange(time) * 0.3 + b)
        frames = swell.unsqueeze(1) * torch.rand(time, bands)
        fader = []
        for loud in frames.mean(1).tolist():
            slow = 0.9 * slow + 0.1 * loud
            fader.append(math.exp(-slow))
        yield Block(frames, torch.tensor(fader))


class Rider(nn.Module):
    LEAK = 0.9

    def __init__(self, bands: int = 6, detectors: int = 8):
        super().__init__()
        self.detect = nn.Linear(bands, detectors)
        self.ride = nn.Linear(detectors, 1)
        self.level = torch.zeros(detectors)

    def forward(self, frames):
        moves = []
        for frame in frames:
            self.level = self.LEAK * self.level + (1 - self.LEAK) * torch.tanh(self.detect(frame))
            moves.append(self.ride(self.level))
        return torch.cat(moves).sigmoid()


def session(blocks: int = 25):
    torch.manual_seed(40)
    rider = Rider()
    opt = torch.optim.Adam(rider.parameters(), lr=0.02)
    for n, block in enumerate(recording(blocks)):
        opt.zero_grad()
        rider.level = torch.zeros(8)
        moves = rider(block.frames)
        miss = nn.functional.mse_loss(moves, block.fader)
        miss.backward()
        opt.step()
        if n % 6 == 0:
            print(f"block {n:2d}  miss {miss.item():.5f}  level {rider.level.norm().item():.3f}")


session()
