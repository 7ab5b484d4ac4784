"""Where was the drum struck? A residual net on the spectra of short hits, tight on memory.

Everything that may be done in place is done in place: the recorder on the stand has little of it.
"""
import math

import numpy as np
import torch
import torch.nn as nn
import torch.nn.functional as F

MODES = np.array([1.0, 1.59, 2.14, 2.30, 2.65, 2.92])
BINS = 48


def hits(n, seed):
    rng = np.random.default_rng(seed)
    radius = rng.uniform(0, 0.95, n)
    freq = np.linspace(0.7, 3.3, BINS)
    order = np.arange(len(MODES))
    excited = np.abs(np.cos(math.pi * radius[:, None] * (order + 1) / 2 + 0.3 * order))
    lines = np.exp(-((freq[None] - MODES[:, None]) / 0.08) ** 2)
    power = excited @ lines * rng.uniform(0.5, 1.5, (n, 1)) + 0.05 * rng.exponential(size=(n, BINS))
    return torch.tensor(np.log(power + 1e-3), dtype=torch.float32), torch.tensor(radius, dtype=torch.float32)


class Block(nn.Module):
    def __init__(self, channels):
        super().__init__()
        self.norm1 = nn.GroupNorm(4, channels)
        self.conv1 = nn.Conv1d(channels, channels, 3, padding=1)
        self.norm2 = nn.GroupNorm(4, channels)
        self.conv2 = nn.Conv1d(channels, channels, 3, padding=1)
        self.act = nn.ReLU(inplace=True)

    def forward(self, x):
        h = self.conv1(self.act(self.norm1(x)))
        h = self.conv2(self.act(self.norm2(h)))
        h += x
        return h


class DrumNet(nn.Module):
    def __init__(self, channels=16, depth=2):
        super().__init__()
        self.enter = nn.Conv1d(1, channels, 5, padding=2)
        self.place = nn.Parameter(0.02 * torch.randn(channels, BINS))
        self.blocks = nn.ModuleList(Block(channels) for _ in range(depth))
        self.leave = nn.Linear(channels * BINS, 1)

    def forward(self, spectrum):
        h = self.enter(spectrum.unsqueeze(1))
        h += self.place
        for block in self.blocks:
            h = block(h)
        h = F.leaky_relu_(h, 0.1).flatten(1)
        radius = self.leave(h).squeeze(1)
        radius.mul_(0.5).add_(0.5)
        return radius


def augment(spectrum, rng):
    """Louder or softer, and one band lost."""
    out = spectrum + 0.2 * torch.randn(len(spectrum), 1)
    at = int(rng.integers(0, BINS - 4))
    out[:, at:at + 4] = 0.0
    return out


def evaluate(net, spectra, radius):
    net.eval()
    with torch.no_grad():
        error = (net(spectra) - radius).abs()
    net.train()
    return error.mean().item()


if __name__ == "__main__":
    torch.manual_seed(26)
    rng = np.random.default_rng(26)
    spectra, radius = hits(512, seed=1)
    shift, scale = spectra.mean(), spectra.std()
    spectra.sub_(shift).div_(scale)
    test_spectra, test_radius = hits(128, seed=2)
    test_spectra.sub_(shift).div_(scale)
    net = DrumNet()
    optimizer = torch.optim.AdamW(net.parameters(), lr=1e-3, weight_decay=1e-3)
    for epoch in range(5):
        total = 0.0
        for rows in torch.randperm(len(spectra)).split(32):
            guess = net(augment(spectra[rows], rng))
            loss = F.smooth_l1_loss(guess, radius[rows], beta=0.1)
            optimizer.zero_grad()
            loss.backward()
            optimizer.step()
            total += loss.item() * len(rows)
        print(f"epoch {epoch}: loss {total / len(spectra):.4f}, off by {evaluate(net, test_spectra, test_radius):.3f}")
