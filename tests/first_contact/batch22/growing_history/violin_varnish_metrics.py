# expect: pattern = growing-history
# expect: carrier = self.intersection, self.total, update, soft_dice
"""
Varnish Segmentation Training Pipeline
======================================

This module provides a complete, production-ready training pipeline for segmenting worn varnish on
photographs of violins.

Key Features:
    - **Modular metrics**: every metric implements ``update`` / ``compute``
    - **Reproducible**: all seeds are fixed
    - **Extensible**: add your own metric to the ``MetricCollection``

Example:
    >>> python train.py
"""

from abc import ABC, abstractmethod
from typing import Dict, Iterator, List, Tuple

import torch
import torch.nn as nn
import torch.nn.functional as F


class Metric(ABC):
    """Abstract base class for all metrics.

    A metric keeps running statistics over the whole training, so that the curves are smooth.
    """

    name: str

    @abstractmethod
    def update(self, probs: torch.Tensor, target: torch.Tensor) -> None:
        """Add one batch to the statistics."""

    @abstractmethod
    def compute(self) -> float:
        """Return the current value as a Python float."""


class SoftDice(Metric):
    """Differentiable Dice coefficient.

    The soft version is used (no threshold), so the same code can serve as a loss.

    Args:
        eps: Small constant that avoids a division by zero.
    """

    name = "soft_dice"

    def __init__(self, eps: float = 1e-6) -> None:
        self.eps = eps
        self.intersection = torch.zeros(())
        self.total = torch.zeros(())

    def update(self, probs: torch.Tensor, target: torch.Tensor) -> None:
        self.intersection = self.intersection + (probs * target).sum()  # expect: place
        self.total = self.total + probs.sum() + target.sum()  # expect: place

    def compute(self) -> float:
        return (2.0 * self.intersection / (self.total + self.eps)).item()


class PixelAccuracy(Metric):
    """Fraction of pixels that are classified correctly."""

    name = "pixel_acc"

    def __init__(self) -> None:
        self.correct = 0
        self.count = 0

    def update(self, probs: torch.Tensor, target: torch.Tensor) -> None:
        self.correct += int(((probs > 0.5) == target.bool()).sum())
        self.count += target.numel()

    def compute(self) -> float:
        return self.correct / max(self.count, 1)


class MetricCollection:
    """Groups several metrics and updates them together."""

    def __init__(self, metrics: List[Metric]) -> None:
        self.metrics = metrics

    def update(self, probs: torch.Tensor, target: torch.Tensor) -> None:
        """Update every metric with the same batch."""
        for metric in self.metrics:
            metric.update(probs, target)

    def compute(self) -> Dict[str, float]:
        """Return a dictionary from names to values."""
        return {metric.name: metric.compute() for metric in self.metrics}


class VarnishNet(nn.Module):
    """A compact convolutional network for binary segmentation."""

    def __init__(self, channels: int = 8) -> None:
        super().__init__()
        self.body = nn.Sequential(
            nn.Conv2d(3, channels, 3, padding=1), nn.SiLU(),
            nn.Conv2d(channels, channels, 3, padding=1), nn.SiLU(),
            nn.Conv2d(channels, 1, 1),
        )

    def forward(self, x: torch.Tensor) -> torch.Tensor:
        """Return logits of shape ``(batch, 1, height, width)``."""
        return self.body(x)


def synthetic_batches(steps: int, batch: int, size: int = 16) -> Iterator[Tuple[torch.Tensor, torch.Tensor]]:
    """Yield pictures with a worn patch and the mask of the patch."""
    for _ in range(steps):
        centre = torch.rand(batch, 2, 1, 1) * size
        grid = torch.stack(torch.meshgrid(torch.arange(size), torch.arange(size), indexing="ij")).float()
        mask = ((grid - centre).pow(2).sum(1, keepdim=True) < 20).float()
        yield 0.3 * torch.randn(batch, 3, size, size) + mask * torch.tensor([0.9, 0.6, 0.2]).view(1, 3, 1, 1), mask


def train(epochs: int = 4, steps: int = 10, lr: float = 1e-2) -> None:
    """Run the training loop.

    Args:
        epochs: Number of epochs.
        steps: Number of batches per epoch.
        lr: Learning rate of the optimizer.
    """
    torch.manual_seed(42)
    model = VarnishNet()
    optimizer = torch.optim.Adam(model.parameters(), lr=lr)
    metrics = MetricCollection([SoftDice(), PixelAccuracy()])
    for epoch in range(epochs):
        epoch_loss = 0.0
        for images, masks in synthetic_batches(steps, 6):
            optimizer.zero_grad()
            logits = model(images)
            loss = F.binary_cross_entropy_with_logits(logits, masks)
            loss.backward()
            optimizer.step()
            metrics.update(torch.sigmoid(logits), masks)  # expect: place
            epoch_loss += loss.item()
        values = ", ".join(f"{k}={v:.3f}" for k, v in metrics.compute().items())
        print(f"[Epoch {epoch + 1}/{epochs}] loss={epoch_loss / steps:.4f} {values}")


if __name__ == "__main__":
    train()
