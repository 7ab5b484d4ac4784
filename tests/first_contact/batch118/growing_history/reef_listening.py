# expect: pattern = growing-history
# expect: raises = nothing
# expect: carrier = mean, spread
"""Tell shrimp, fish and boats apart in reef recordings; features whitened by running moments."""

import torch
import torch.nn.functional as F
from torch import nn


class RunningWhitener(nn.Module):
    """Like a batch norm, but the moments of all batches so far are used in training, too.

    With batches of four clips the moments of one batch alone are too noisy.
    """

    def __init__(self, width, floor=0.02):
        super().__init__()
        self.floor = floor
        self.batches = 0
        self.mean = torch.zeros(width)
        self.spread = torch.ones(width)

    def update(self, features):
        self.batches += 1
        rate = max(1.0 / self.batches, self.floor)
        away = features - self.mean  # expect: place
        self.mean = self.mean + rate * away.mean(dim=0)  # expect: place
        self.spread = self.spread + rate * (away.pow(2).mean(dim=0) - self.spread)  # expect: place

    def forward(self, features):
        if self.training:
            self.update(features)  # expect: place
        mean, spread = self.mean.detach(), self.spread.detach()
        return (features - mean) / (spread + 1e-3).sqrt()


class Listener(nn.Module):
    def __init__(self, bands=12, width=10, kinds=3):
        super().__init__()
        self.ear = nn.Sequential(nn.Linear(bands, width), nn.SiLU(), nn.Linear(width, width))
        self.whiten = RunningWhitener(width)
        self.name = nn.Linear(width, kinds)

    def forward(self, clips):
        return self.name(self.whiten(self.ear(clips)))


def hydrophone(count, bands=12):
    kind = torch.randint(3, (count,))
    tilt = torch.stack(
        [torch.linspace(-1, 1, bands), torch.linspace(1, -1, bands), torch.zeros(bands)]
    )
    loudness = torch.rand(count, 1) + 0.5
    return loudness * tilt[kind] + 0.4 * torch.randn(count, bands), kind


def small_batches(clips, kinds, size=4):
    for rows in torch.randperm(len(clips)).split(size):
        yield clips[rows], kinds[rows]


def train(listener, clips, kinds, nights=3):
    optimizer = torch.optim.SGD(listener.parameters(), lr=0.05, momentum=0.8)
    schedule = torch.optim.lr_scheduler.ExponentialLR(optimizer, 0.7)
    for night in range(nights):
        listener.train()
        heard = 0.0
        for batch, kind in small_batches(clips, kinds):
            optimizer.zero_grad()
            loss = F.cross_entropy(listener(batch), kind)
            loss.backward()
            optimizer.step()
            heard += loss.item() * len(batch)
        schedule.step()
        listener.eval()
        with torch.no_grad():
            right = (listener(clips).argmax(dim=1) == kinds).float().mean().item()
        print(f"night {night}: loss {heard / len(clips):.3f}, right {right:.0%}")


if __name__ == "__main__":
    torch.manual_seed(27)
    clips, kinds = hydrophone(80)
    train(Listener(), clips, kinds)
