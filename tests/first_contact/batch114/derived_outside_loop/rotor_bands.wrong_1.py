"""Bearing-fault classifier on vibration spectra with a learnable band-pass bank."""

from __future__ import annotations

import math
from dataclasses import dataclass
from functools import cached_property

import torch
from torch import Tensor, nn


@dataclass(frozen=True)
class BandConfig:
    bins: int = 64
    bands: int = 8
    sample_rate: float = 2_000.0
    smoothness: float = 1e-3


class GaussianBank(nn.Module):
    """Bands of Gaussian shape; where they sit and how wide they are is learned."""

    def __init__(self, config: BandConfig) -> None:
        super().__init__()
        nyquist = config.sample_rate / 2
        self.register_buffer("frequencies", torch.linspace(0, 1, config.bins))
        centers = torch.linspace(0.05, 0.95, config.bands)
        self.centers = nn.Parameter(centers)
        self.log_widths = nn.Parameter(torch.full((config.bands,), math.log(80 / nyquist)))

    @cached_property
    def bank(self) -> Tensor:
        """(bands, bins), every row with a sum of one."""
        offset = self.frequencies[None] - self.centers[:, None]
        shape = torch.exp(-0.5 * (offset / self.log_widths.exp()[:, None]).square())
        return shape / shape.sum(dim=1, keepdim=True)

    def overlap(self) -> Tensor:
        """How much neighbouring bands cover the same bins."""
        return (self.bank[1:] * self.bank[:-1]).sum()

    def forward(self, power: Tensor) -> Tensor:
        return torch.log1p(power @ self.bank.T)


class BearingNet(nn.Module):
    def __init__(self, config: BandConfig, classes: int) -> None:
        super().__init__()
        self.filters = GaussianBank(config)
        self.norm = nn.LayerNorm(config.bands)
        self.classify = nn.Linear(config.bands, classes)

    def forward(self, power: Tensor) -> Tensor:
        return self.classify(self.norm(self.filters(power)))


def spectra(per_class: int, config: BandConfig) -> tuple[Tensor, Tensor]:
    peaks = [6, 21, 44]
    bins = torch.arange(config.bins)
    rows, labels = [], []
    for label, peak in enumerate(peaks):
        tone = 4 * torch.exp(-0.5 * ((bins - peak) / 2.0) ** 2)
        rows.append(tone + torch.rand(per_class, config.bins))
        labels += [label] * per_class
    order = torch.randperm(len(labels))
    return torch.cat(rows)[order], torch.tensor(labels)[order]


def run_epoch(net: BearingNet, optimizer, power: Tensor, labels: Tensor, config: BandConfig) -> float:
    total = 0.0
    for batch, target in zip(power.split(15), labels.split(15)):
        loss = nn.functional.cross_entropy(net(batch), target)
        loss = loss + config.smoothness * net.filters.overlap()
        optimizer.zero_grad()
        loss.backward(retain_graph=True)
        optimizer.step()
        total += loss.item()
    return total


if __name__ == "__main__":
    torch.manual_seed(8)
    config = BandConfig()
    power, labels = spectra(20, config)
    net = BearingNet(config, classes=3)
    optimizer = torch.optim.AdamW(net.parameters(), lr=1e-2)
    for epoch in range(3):
        print(epoch, f"{run_epoch(net, optimizer, power, labels, config):.4f}")
    print("band centres (Hz):", (net.filters.centers.detach() * config.sample_rate / 2).round().tolist())
