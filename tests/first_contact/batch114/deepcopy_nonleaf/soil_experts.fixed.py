"""Soil moisture from satellite bands: a mixture of experts, taught half by its own average."""

from __future__ import annotations

import argparse
from copy import deepcopy

import torch
import torch.nn.functional as F
from torch import Tensor, nn


class ExpertBlock(nn.Module):
    """Softly routed experts. The load-balance term of the last batch is kept on the block."""

    def __init__(self, width: int, experts: int) -> None:
        super().__init__()
        self.router = nn.Linear(width, experts)
        self.experts = nn.ModuleList(nn.Linear(width, width) for _ in range(experts))
        self.balance = torch.zeros(())

    def forward(self, x: Tensor) -> Tensor:
        share = self.router(x).softmax(dim=-1)
        load = share.mean(dim=0)
        self.balance = len(self.experts) * load.square().sum()
        answers = torch.stack([torch.relu(expert(x)) for expert in self.experts], dim=-1)
        return (answers * share.unsqueeze(1)).sum(dim=-1)


class SoilNet(nn.Module):
    def __init__(self, bands: int, width: int, experts: int) -> None:
        super().__init__()
        self.stem = nn.Conv1d(1, width, kernel_size=4, stride=2)
        self.block = ExpertBlock(width, experts)
        self.head = nn.Linear(width, 1)
        self.reduction = 1.0
        self.reduction = bands / self.features(torch.zeros(1, bands)).shape[-1]
        self.settle(bands)

    def features(self, x: Tensor) -> Tensor:
        return self.stem(x.unsqueeze(1))

    def settle(self, bands: int) -> None:
        """Shift the head so that an empty scene gives zero."""
        with torch.no_grad():
            empty = self(torch.zeros(1, bands))
        self.head.bias.data -= empty.data.squeeze(0)

    def forward(self, x: Tensor) -> Tensor:
        pooled = self.features(x).sum(dim=-1) * self.reduction / x.shape[-1]
        return self.head(self.block(pooled)).squeeze(-1)


class Average:
    """Exponential moving average of a model, itself a model."""

    def __init__(self, model: nn.Module, decay: float = 0.9) -> None:
        self.module = deepcopy(model).eval()
        self.decay = decay
        for parameter in self.module.parameters():
            parameter.requires_grad_(False)

    @torch.no_grad()
    def update(self, model: nn.Module) -> None:
        for mine, theirs in zip(self.module.parameters(), model.parameters()):
            mine.lerp_(theirs, 1 - self.decay)


def scenes(count: int, bands: int) -> tuple[Tensor, Tensor]:
    x = torch.rand(count, bands)
    return x, 0.8 * x[:, 2] - 0.4 * x[:, 5] * x[:, 7] + 0.1


def train(options: argparse.Namespace) -> None:
    torch.manual_seed(options.seed)
    labelled, moisture = scenes(48, options.bands)
    unlabelled, _ = scenes(96, options.bands)
    model = SoilNet(options.bands, options.width, options.experts)
    average = Average(model)
    optimizer = torch.optim.AdamW(model.parameters(), lr=5e-3)
    jitter = torch.Generator().manual_seed(options.seed + 1)

    for epoch in range(options.epochs):
        for x, y, extra in zip(labelled.split(16), moisture.split(16), unlabelled.split(32)):
            loss = F.mse_loss(model(x), y) + options.balance * model.block.balance
            with torch.no_grad():
                taught = average.module(extra)
            noisy = extra + 0.05 * torch.randn(extra.shape, generator=jitter)
            loss = loss + 0.5 * F.mse_loss(model(noisy), taught)
            optimizer.zero_grad()
            loss.backward()
            optimizer.step()
            average.update(model)
        print(epoch, f"{loss.item():.4f}")


if __name__ == "__main__":
    parser = argparse.ArgumentParser()
    parser.add_argument("--bands", type=int, default=12)
    parser.add_argument("--width", type=int, default=10)
    parser.add_argument("--experts", type=int, default=3)
    parser.add_argument("--epochs", type=int, default=3)
    parser.add_argument("--balance", type=float, default=0.2)
    parser.add_argument("--seed", type=int, default=3)
    train(parser.parse_args())
