"""Hive weights from humidity and temperature: what the scale adds when it rains."""
import torch
from torch import nn


class Scoreboard:
    """Three figures for the whole run: smoothed fit, summed drift, worst reading."""
    __slots__ = ("fit", "drift", "peak", "seen")

    def __init__(self):
        self.fit, self.drift, self.peak, self.seen = 0.0, 0.0, torch.tensor(0.0), 0

    def note(self, fit, drift, worst):
        self.fit = 0.95 * self.fit + 0.05 * fit
        self.drift += drift
        self.peak = torch.maximum(self.peak, worst)
        self.seen += 1

    def __str__(self):
        return f"fit {float(self.fit):.4f}  drift {float(self.drift) / self.seen:+.4f}  worst {float(self.peak):.3f}"


def readings(n):
    air = torch.rand(n, 2)
    rain = (torch.rand(n, 1) < 0.3).float()
    kilos = 30 + 1.5 * air[:, :1] - 0.4 * air[:, 1:] + 0.8 * rain
    return torch.cat([air, rain], 1), (kilos - 30) + 0.05 * torch.randn(n, 1)


def main():
    torch.manual_seed(3)
    scale = nn.Sequential(nn.Linear(3, 12), nn.Tanh(), nn.Linear(12, 1))
    sgd = torch.optim.SGD(scale.parameters(), lr=0.05)
    board = Scoreboard()
    for day in range(60):
        x, y = readings(24)
        gap = scale(x) - y
        fit = gap.square().mean()
        sgd.zero_grad()
        fit.backward()
        sgd.step()
        gap = gap.detach()
        board.note(fit.detach(), gap.mean(), gap.abs().max())
        if day % 15 == 14:
            print(day + 1, board)


if __name__ == "__main__":
    main()
