# expect: pattern = growing-history
# expect: carrier = smooth
"""Track the pitch of short tones; halves the step when the smoothed loss stops falling."""
import math

import torch
from torch import nn


def tones(count, length=64):
    pitch = 0.05 + 0.2 * torch.rand(count, 1)
    phase = 2 * math.pi * torch.rand(count, 1)
    clock = torch.arange(float(length))
    wave = torch.sin(2 * math.pi * pitch * clock + phase)
    return wave + 0.1 * torch.randn_like(wave), pitch.squeeze(1)


class PitchNet(nn.Module):
    def __init__(self):
        super().__init__()
        self.bank = nn.Conv1d(1, 16, 9, stride=2)
        self.read = nn.Linear(16, 1)

    def forward(self, wave):
        energy = self.bank(wave.unsqueeze(1)).pow(2).mean(-1)
        return torch.sigmoid(self.read(torch.log1p(energy))).squeeze(-1)


class Plateau:
    """Watches an exponential average of the loss."""

    def __init__(self, optimizer, patience=25, pace=0.05):
        self.optimizer = optimizer
        self.patience, self.pace = patience, pace
        self.smooth = None
        self.best, self.waited = math.inf, 0

    def update(self, loss):
        if self.smooth is None:
            self.smooth = loss  # expect: place
        else:
            self.smooth = (1 - self.pace) * self.smooth + self.pace * loss  # expect: place
        if self.smooth < self.best:
            self.best, self.waited = float(self.smooth), 0
        else:
            self.waited += 1
        if self.waited > self.patience:
            for group in self.optimizer.param_groups:
                group["lr"] *= 0.5
            self.waited = 0


def main(steps=120):
    torch.manual_seed(19)
    net = PitchNet()
    optimizer = torch.optim.Adam(net.parameters(), lr=1e-2)
    plateau = Plateau(optimizer)
    for step in range(steps):
        wave, pitch = tones(16)
        loss = (net(wave) - pitch).abs().mean()
        optimizer.zero_grad()
        loss.backward()
        optimizer.step()
        plateau.update(loss)  # expect: place
        if step % 30 == 0:
            rate = optimizer.param_groups[0]["lr"]
            print(f"step {step}: smoothed error {plateau.smooth:.4f}, step size {rate:g}")


if __name__ == "__main__":
    main()
