# expect: pattern = detached-loss
# expect: raises = RuntimeError: element 0 of tensors does not require grad and does not have a grad_fn
# expect: carrier = loss
"""Forecasts the next hours of a tide gauge from windows of its past.

A frozen front end (fixed harmonics of the moon and the sun) describes each window; a small
trainable encoder and a head do the rest.
"""
import math

import torch
from torch import nn

PERIODS = (12.42, 12.0, 25.82, 23.93)


class Harmonics(nn.Module):
    """Least-squares amplitudes of the known tidal periods, and what they leave over."""

    def __init__(self, length):
        super().__init__()
        hours = torch.arange(length, dtype=torch.float32)
        waves = []
        for period in PERIODS:
            waves += [torch.cos(2 * math.pi * hours / period), torch.sin(2 * math.pi * hours / period)]
        self.scale = nn.Parameter(torch.ones(2 * len(PERIODS)))
        self.register_buffer("basis", torch.stack(waves, dim=1))
        self.register_buffer("solver", torch.linalg.pinv(self.basis))

    def forward(self, window):
        amplitudes = window @ self.solver.T
        rest = window - amplitudes @ self.basis.T
        return torch.cat([amplitudes * self.scale, rest[:, -12:]], dim=1)


class Forecaster(nn.Module):
    def __init__(self, inputs, horizon):
        super().__init__()
        self.encoder = nn.Sequential(nn.Linear(inputs, 32), nn.GELU(), nn.Linear(32, 32), nn.GELU())
        self.head = nn.Linear(32, horizon)

    def forward(self, described):
        return self.head(self.encoder(described))


def gauge(hours):
    t = torch.arange(hours, dtype=torch.float32)
    level = sum(math.cos(k) * torch.sin(2 * math.pi * t / p + k) for k, p in enumerate(PERIODS))
    surge = torch.cumsum(0.02 * torch.randn(hours), dim=0)
    return level + surge


def described_windows(level, front, length, horizon, batch):
    """Yields (description, future) batches; the front end is not trained, so no graph for it."""
    starts = torch.randperm(len(level) - length - horizon)
    with torch.no_grad():  # expect: place
        for some in starts.split(batch):
            past = torch.stack([level[s : s + length] for s in some])
            future = torch.stack([level[s + length : s + length + horizon] for s in some])
            mean = past.mean(dim=1, keepdim=True)
            yield front(past - mean), future - mean  # expect: place


def evaluate(model, front, level, length, horizon):
    errors = []
    with torch.no_grad():
        for described, future in described_windows(level, front, length, horizon, 64):
            errors.append((model(described) - future).abs().mean())
    return torch.stack(errors).mean().item()


def main():
    torch.manual_seed(9)
    length, horizon = 48, 6
    train_level, test_level = gauge(400), gauge(200)
    front = Harmonics(length).eval()
    model = Forecaster(2 * len(PERIODS) + 12, horizon)
    optimizer = torch.optim.Adam(model.parameters(), lr=2e-3)
    criterion = nn.HuberLoss()

    for epoch in range(2):
        model.train()
        for described, future in described_windows(train_level, front, length, horizon, 64):
            prediction = model(described)  # expect: place
            loss = criterion(prediction, future)
            optimizer.zero_grad()
            loss.backward()  # expect: place
            optimizer.step()
        model.eval()
        print(f"epoch {epoch}: mean error {evaluate(model, front, test_level, length, horizon):.4f}")


if __name__ == "__main__":
    main()
