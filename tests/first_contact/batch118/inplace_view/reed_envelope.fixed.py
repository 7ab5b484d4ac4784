"""Fit attack, release and make-up gain of an old reed organ's compressor to recordings."""

import math

import torch
from torch import nn

SAMPLE_RATE = 400.0


class Follower(nn.Module):
    """One-pole level follower with different time constants up and down."""

    def __init__(self, attack_ms=20.0, release_ms=60.0):
        super().__init__()
        self.log_attack = nn.Parameter(torch.tensor(math.log(attack_ms)))
        self.log_release = nn.Parameter(torch.tensor(math.log(release_ms)))

    @staticmethod
    def pole(log_ms):
        return torch.exp(-1000.0 / (log_ms.exp() * SAMPLE_RATE))

    def forward(self, level):
        up, down = self.pole(self.log_attack), self.pole(self.log_release)
        out = [level[:, 0]]
        for n in range(1, level.shape[1]):
            last = out[-1]
            pole = torch.where(level[:, n] > last, up, down)
            out.append(pole * last + (1 - pole) * level[:, n])
        return torch.stack(out, dim=1)


class Compressor(nn.Module):
    def __init__(self):
        super().__init__()
        self.follower = Follower()
        self.threshold = nn.Parameter(torch.tensor(-18.0))
        self.slope = nn.Parameter(torch.tensor(0.3))
        self.makeup = nn.Parameter(torch.tensor(1.0))

    def gain_db(self, sound):
        level = 20.0 * torch.log10(sound.abs() + 1e-3)
        over = torch.relu(self.follower(level) - self.threshold)
        return self.makeup - self.slope * over

    def forward(self, sound):
        return sound * 10 ** (self.gain_db(sound) / 20.0)


def chords(count, length):
    time = torch.arange(length) / SAMPLE_RATE
    pitch = torch.rand(count, 1) * 20 + 20
    swell = torch.sigmoid(torch.rand(count, 1) * 40 * (time - 0.05))
    return swell * torch.sin(2 * math.pi * pitch * time)


def record(sound):
    """The organ as it stands in the church, with settings nobody wrote down."""
    with torch.no_grad():
        played = []
        for voice in sound:
            level = 20.0 * torch.log10(voice.abs() + 1e-3)
            played.append(voice * 10 ** (-0.5 * torch.relu(level + 14.0) / 20.0))
        return torch.stack(played)


def main():
    torch.manual_seed(4)
    sound = chords(count=6, length=48)
    wanted = record(sound)
    model = Compressor()
    optimizer = torch.optim.Adam(model.parameters(), lr=0.05)
    for step in range(6):
        optimizer.zero_grad()
        error = (model(sound) - wanted).pow(2).mean()
        error.backward()
        optimizer.step()
        print(f"{step}  {error.item():.5f}  threshold {model.threshold.item():.2f} dB")


if __name__ == "__main__":
    main()
