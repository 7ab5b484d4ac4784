# expect: pattern = derived-outside-loop
# expect: raises = RuntimeError: Trying to backward through the graph a second time
# expect: carrier = stiffness, self.bridge.stiffness
"""Identify the stiffness of a footbridge's spans from deflections that were measured under known loads.

    python identify.py --epochs 8 --spans 6
"""

from __future__ import annotations

import argparse
import dataclasses
import functools
import logging
from collections.abc import Iterator, Sequence

import torch
from torch import Tensor, nn

logger = logging.getLogger("identify")


@dataclasses.dataclass(frozen=True, slots=True)
class Config:
    """Everything that can be set from the command line."""

    spans: int = 6
    load_cases: int = 24
    batch: int = 8
    epochs: int = 8
    lr: float = 0.05
    noise: float = 0.002
    seed: int = 31

    @classmethod
    def from_args(cls, argv: Sequence[str] | None = None) -> Config:
        """Read the fields from ``argv``; every field is an option."""
        parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
        for field in dataclasses.fields(cls):
            parser.add_argument(f"--{field.name.replace('_', '-')}", type=type(field.default), default=field.default)
        return cls(**vars(parser.parse_args(argv)))


class Bridge(nn.Module):
    """A chain of springs, fixed at both ends; the logs of their constants are learned."""

    def __init__(self, spans: int) -> None:
        super().__init__()
        self.spans = spans
        self.log_k = nn.Parameter(torch.zeros(spans + 1))

    @functools.cached_property
    def incidence(self) -> Tensor:
        """One row a spring: +1 and -1 at its two joints (the supports have no column)."""
        rows = torch.zeros(self.spans + 1, self.spans)
        for i in range(self.spans):
            rows[i, i], rows[i + 1, i] = 1.0, -1.0
        return rows

    @functools.cached_property
    def stiffness(self) -> Tensor:  # expect: place
        """The assembled stiffness matrix (assembling is slow on the real bridge)."""
        return self.incidence.T @ (self.log_k.exp()[:, None] * self.incidence)  # expect: place

    def forward(self, loads: Tensor) -> Tensor:
        """Deflections under ``loads``, one row a load case."""
        return torch.linalg.solve(self.stiffness, loads.T).T  # expect: place


@dataclasses.dataclass(slots=True)
class Measurements:
    """Loads and the deflections that the surveyors read."""

    loads: Tensor
    deflections: Tensor

    @classmethod
    def simulate(cls, config: Config) -> Measurements:
        """A bridge whose fourth span is weak."""
        truth = Bridge(config.spans)
        with torch.no_grad():
            truth.log_k.copy_(torch.linspace(0.2, 0.6, config.spans + 1))
            truth.log_k[3] -= 0.9
            loads = torch.rand(config.load_cases, config.spans)
            read = truth(loads)
            return cls(loads, read + config.noise * torch.randn_like(read))

    def batches(self, size: int) -> Iterator[tuple[Tensor, Tensor]]:
        """The load cases in random order."""
        for index in torch.randperm(len(self.loads)).split(size):
            yield self.loads[index], self.deflections[index]


def identify(config: Config) -> Bridge:
    """Fit a bridge to simulated measurements."""
    torch.manual_seed(config.seed)
    measured = Measurements.simulate(config)
    bridge = Bridge(config.spans)
    optimizer = torch.optim.Adam(bridge.parameters(), lr=config.lr)
    for epoch in range(config.epochs):
        total = 0.0
        for loads, deflections in measured.batches(config.batch):
            optimizer.zero_grad(set_to_none=True)
            loss = nn.functional.mse_loss(bridge(loads), deflections)
            loss.backward()  # expect: place
            optimizer.step()
            total += loss.item()
        logger.info("epoch %d  loss %.6f", epoch, total * config.batch / config.load_cases)
    return bridge


def main() -> None:
    """Entry point."""
    logging.basicConfig(level=logging.INFO, format="%(name)s: %(message)s")
    bridge = identify(Config.from_args())
    logger.info("k = %s", [round(v, 2) for v in bridge.log_k.exp().tolist()])


if __name__ == "__main__":
    main()
