"""Rot in sugar beets from near-infrared scans; beets that are still hard are drawn more often.

The sampler keeps the last loss of each beet, as the pickers at the belt would.
"""
import copy
from typing import Iterator

import torch
import torch.nn as nn
import torch.nn.functional as F

BANDS = 40


def scans(n: int, gen: torch.Generator) -> tuple[torch.Tensor, torch.Tensor]:
    wave = torch.linspace(0, 1, BANDS)
    rotten = (torch.rand(n, generator=gen) < 0.3).float()
    water = 0.6 + 0.2 * torch.rand(n, 1, generator=gen)
    sugar = 0.3 + 0.3 * torch.rand(n, 1, generator=gen)
    dip = torch.exp(-((wave - 0.55) / 0.05) ** 2)
    x = water * torch.exp(-((wave - 0.3) / 0.1) ** 2) + sugar * torch.exp(-((wave - 0.7) / 0.08) ** 2)
    x = x - 0.4 * rotten.unsqueeze(1) * torch.rand(n, 1, generator=gen) * dip
    return x + 0.03 * torch.randn(n, BANDS, generator=gen), rotten


class HardBeets:
    """Draws indices by (loss ** power), with every beet at its best-known loss."""

    def __init__(self, count: int, batch: int, power: float = 0.7, floor: float = 0.05):
        self.priority = torch.ones(count)
        self.batch, self.power, self.floor = batch, power, floor

    def __iter__(self) -> Iterator[torch.Tensor]:
        for _ in range(len(self.priority) // self.batch):
            odds = self.priority.clamp(min=self.floor) ** self.power
            yield torch.multinomial(odds, self.batch, replacement=False)

    def update(self, rows: torch.Tensor, losses: torch.Tensor) -> None:
        self.priority[rows] = losses.clone()

    def hardest(self, k: int) -> list[int]:
        return self.priority.topk(k).indices.tolist()


class RotNet(nn.Module):
    def __init__(self, width: int = 12):
        super().__init__()
        self.conv = nn.Sequential(nn.Conv1d(1, width, 5, padding=2), nn.GELU(),
                                  nn.Conv1d(width, width, 5, padding=2, stride=2), nn.GELU())
        self.head = nn.Linear(width * BANDS // 2, 1)

    def forward(self, x: torch.Tensor) -> torch.Tensor:
        return self.head(self.conv(4 * x.unsqueeze(1)).flatten(1)).squeeze(-1)


@torch.no_grad()
def average_precision(net: nn.Module, x: torch.Tensor, y: torch.Tensor) -> float:
    order = net(x).argsort(descending=True)
    hits = y[order]
    precision = hits.cumsum(0) / torch.arange(1, len(y) + 1)
    return (precision * hits).sum().item() / hits.sum().item()


class Trainer:
    def __init__(self, net: nn.Module, data, valid, batch: int = 32):
        self.net = net
        self.x, self.y = data
        self.valid = valid
        self.sampler = HardBeets(len(self.x), batch)
        self.optimizer = torch.optim.NAdam(net.parameters(), lr=0.01)
        self.best = (0.0, None)

    def run(self, epochs: int) -> None:
        for epoch in range(epochs):
            total = 0.0
            for rows in self.sampler:
                losses = F.binary_cross_entropy_with_logits(
                    self.net(self.x[rows]), self.y[rows], reduction="none")
                self.optimizer.zero_grad(set_to_none=True)
                losses.mean().backward()
                self.optimizer.step()
                self.sampler.update(rows, losses)
                total += losses.sum().item()
            score = average_precision(self.net, *self.valid)
            if score > self.best[0]:
                self.best = (score, copy.deepcopy(self.net.state_dict()))
            print(f"epoch {epoch}: loss of the drawn {total / len(self.x):.3f}, AP {score:.3f}, "
                  f"hardest {self.sampler.hardest(3)}")


if __name__ == "__main__":
    torch.manual_seed(20)
    gen = torch.Generator().manual_seed(20)
    trainer = Trainer(RotNet(), scans(512, gen), scans(256, gen))
    trainer.run(epochs=5)
    trainer.net.load_state_dict(trainer.best[1])
