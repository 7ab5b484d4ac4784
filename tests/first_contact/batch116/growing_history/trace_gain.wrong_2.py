"""Pick first arrivals in seismic traces. The channels' gain follows a running level."""

from types import SimpleNamespace

import torch
from torch import nn


class RunningGain(nn.Module):
    """Divides each channel by its running mean level, in training as in the field.

    Batches are small (one shot has few traces), so the statistics of a batch alone are
    too rough; the level is a constant as far as the gradients are concerned.
    """

    def __init__(self, channels: int, momentum: float = 0.1, eps: float = 1e-3) -> None:
        super().__init__()
        self.momentum = momentum
        self.eps = eps
        self.scale = nn.Parameter(torch.ones(channels))
        self.register_buffer("level", torch.ones(channels))

    def forward(self, x: torch.Tensor) -> torch.Tensor:
        if self.training:
            now = x.abs().mean(dim=(0, 2))
            level = (1 - self.momentum) * self.level + self.momentum * now
            self.level = level.detach()
        else:
            level = self.level
        gain = self.scale / (level + self.eps)
        return x * gain[None, :, None]


class Picker(nn.Module):
    """A score for each sample of the trace to be the first arrival."""

    def __init__(self, channels: int = 6) -> None:
        super().__init__()
        self.layers = nn.Sequential(
            nn.Conv1d(1, channels, 7, padding=3),
            RunningGain(channels),
            nn.LeakyReLU(0.1),
            nn.Conv1d(channels, channels, 7, padding=3),
            RunningGain(channels),
            nn.LeakyReLU(0.1),
            nn.Conv1d(channels, 1, 5, padding=2),
        )

    def forward(self, traces: torch.Tensor) -> torch.Tensor:
        return self.layers(traces[:, None, :]).squeeze(1)


def shots(count: int, traces: int, samples: int, seed: int):
    """Noise, then a decaying wavelet; the farther the geophone, the later and fainter."""
    gen = torch.Generator().manual_seed(seed)
    t = torch.arange(samples, dtype=torch.float32)
    for _ in range(count):
        offset = torch.arange(traces) + 4 * torch.rand(1, generator=gen)
        first = (8 + 3.5 * offset).round().long()
        late = t - first[:, None]
        wavelet = torch.exp(-late / 9) * torch.sin(late * 0.9 + 0.6) * (late >= 0)
        noise = 0.15 * torch.randn(traces, samples, generator=gen)
        yield wavelet / (1 + 0.1 * offset[:, None]) + noise, first


def train(model: nn.Module, options: SimpleNamespace) -> None:
    optimizer = torch.optim.AdamW(model.parameters(), lr=options.lr)
    criterion = nn.CrossEntropyLoss()
    for epoch in range(options.epochs):
        model.train()
        total = 0.0
        for traces, first in shots(options.shots, 8, 64, seed=epoch):
            loss = criterion(model(traces), first)
            optimizer.zero_grad(set_to_none=True)
            loss.backward()
            optimizer.step()
            total += loss.item()
        print(f"epoch {epoch}  loss {total / options.shots:.3f}  off by {misfit(model):.1f} samples")


@torch.no_grad()
def misfit(model: nn.Module) -> float:
    model.eval()
    off = [(model(x).argmax(1) - first).abs().float().mean() for x, first in shots(4, 8, 64, 999)]
    return torch.stack(off).mean().item()


if __name__ == "__main__":
    torch.manual_seed(2)
    train(Picker(), SimpleNamespace(epochs=4, shots=12, lr=5e-3))
