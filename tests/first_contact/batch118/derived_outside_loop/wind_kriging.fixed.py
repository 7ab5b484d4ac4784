"""Sparse kriging of wind speed over a valley, fitted by minibatches of mast readings."""

from __future__ import annotations

import math
from collections.abc import Iterator
from dataclasses import dataclass

import torch
from torch import Tensor, nn


@dataclass(frozen=True)
class Plan:
    knots: int = 15
    readings: int = 120
    batch: int = 30
    epochs: int = 3
    rate: float = 0.05
    jitter: float = 1e-3


class ValleyField(nn.Module):
    """A Gaussian field on a few knots, in whitened coordinates."""

    def __init__(self, knots: Tensor, jitter: float) -> None:
        super().__init__()
        self.register_buffer("knots", knots)
        self.jitter = jitter
        self.log_reach = nn.Parameter(torch.tensor(-1.0))
        self.log_noise = nn.Parameter(torch.tensor(-0.5))
        self.heights = nn.Parameter(0.1 * torch.randn(len(knots)))

    def kernel(self, left: Tensor, right: Tensor) -> Tensor:
        gap = (left[:, None] - right[None]).pow(2).sum(-1)
        return torch.exp(-0.5 * gap / self.log_reach.exp().pow(2))

    @property
    def whitener(self) -> Tensor:
        """The Cholesky factor of the knots' own covariance (cubic in their number)."""
        own = self.kernel(self.knots, self.knots)
        return torch.linalg.cholesky(own + self.jitter * torch.eye(len(self.knots)))

    def forward(self, places: Tensor) -> Tensor:
        cross = self.kernel(self.knots, places)
        basis = torch.linalg.solve_triangular(self.whitener, cross, upper=False)
        return self.heights @ basis

    def loss(self, places: Tensor, speeds: Tensor) -> Tensor:
        misfit = speeds - self(places)
        nll = 0.5 * (misfit / self.log_noise.exp()).pow(2) + self.log_noise
        return nll.mean() + 0.5 * self.heights.pow(2).sum() / 120


def mast_readings(count: int) -> tuple[Tensor, Tensor]:
    places = torch.rand(count, 2)
    ridge = torch.sin(2 * math.pi * places[:, 0]) + 0.5 * places[:, 1]
    return places, ridge + 0.1 * torch.randn(count)


def shuffled(places: Tensor, speeds: Tensor, batch: int) -> Iterator[tuple[Tensor, Tensor]]:
    for rows in torch.randperm(len(places)).split(batch):
        yield places[rows], speeds[rows]


def fit(plan: Plan) -> ValleyField:
    places, speeds = mast_readings(plan.readings)
    field = ValleyField(torch.rand(plan.knots, 2), plan.jitter)
    optimizer = torch.optim.Adam(field.parameters(), lr=plan.rate)
    for epoch in range(plan.epochs):
        total = 0.0
        for here, speed in shuffled(places, speeds, plan.batch):
            optimizer.zero_grad()
            loss = field.loss(here, speed)
            loss.backward()
            optimizer.step()
            total += loss.item()
        reach = field.log_reach.exp().item()
        print(f"epoch {epoch}: nll {total:.3f}, reach {reach:.3f}")
    return field


if __name__ == "__main__":
    torch.manual_seed(2)
    fit(Plan())
