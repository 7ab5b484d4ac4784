# expect: pattern = none
"""Fit the loss filter of a plucked string; the delay line lives across blocks."""
import torch
from torch import nn


class PluckedString(nn.Module):
    def __init__(self, period=20):
        super().__init__()
        self.taps = nn.Parameter(torch.tensor([0.2, 0.5, 0.2]))
        self.period = period
        self.register_buffer("line", torch.zeros(period))

    def pluck(self, strength=1.0):
        with torch.no_grad():
            self.line.uniform_(-strength, strength)

    def block(self):
        """One period of sound from the delay line."""
        ring = torch.cat([self.line[-1:], self.line.clone(), self.line[:1]])
        sound = nn.functional.conv1d(ring.view(1, 1, -1), self.taps.view(1, 1, 3)).view(-1)
        return sound

    def push(self, sound):
        with torch.no_grad():
            self.line.copy_(sound)


def recorded(period, blocks, start):
    taps, line = torch.tensor([0.25, 0.49, 0.25]), start.clone()
    for _ in range(blocks):
        ring = torch.cat([line[-1:], line, line[:1]])
        line = nn.functional.conv1d(ring.view(1, 1, -1), taps.view(1, 1, 3)).view(-1)
        yield line


def main():
    torch.manual_seed(12)
    string = PluckedString()
    opt = torch.optim.Adam(string.parameters(), lr=0.01)
    for note in range(8):
        string.pluck()
        worst = 0.0
        for target in recorded(string.period, 12, string.line):
            sound = string.block()
            gap = (sound - target).square().mean()
            opt.zero_grad()
            gap.backward()
            opt.step()
            string.push(sound)
            worst = max(worst, gap.item())
        print(f"note {note}: worst gap {worst:.5f}, taps {[round(t, 3) for t in string.taps.tolist()]}")


main()
