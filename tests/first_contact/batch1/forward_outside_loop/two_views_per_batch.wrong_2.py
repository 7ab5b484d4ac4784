"""Each batch is encoded once and then used for several inner updates of encoder and head."""
from dataclasses import dataclass
from typing import Iterator, Tuple

import torch
import torch.nn as nn


@dataclass
class HParams:
    inner: int = 3
    batches: int = 4
    batch_size: int = 18
    noise: float = 0.1
    lr: float = 0.02


class NoisyEncoder(nn.Module):
    def __init__(self, noise: float):
        super().__init__()
        self.noise = noise
        self.net = nn.Sequential(nn.Linear(5, 20), nn.Mish(), nn.Linear(20, 8))

    def forward(self, x: torch.Tensor) -> torch.Tensor:
        z = self.net(x)
        return z + self.noise * torch.randn_like(z) if self.training else z


def batches(hp: HParams) -> Iterator[Tuple[torch.Tensor, torch.Tensor]]:
    w = torch.randn(5, 4)
    for _ in range(hp.batches):
        x = torch.randn(hp.batch_size, 5)
        yield x, (x @ w).argmax(dim=1)


def train(hp: HParams) -> None:
    encoder, head = NoisyEncoder(hp.noise), nn.Linear(8, 4)
    opt = torch.optim.Adam([
        {"params": encoder.parameters(), "lr": hp.lr},
        {"params": head.parameters(), "lr": 2 * hp.lr},
    ])
    for b, (x, y) in enumerate(batches(hp)):
        features = encoder(x).detach()
        for _ in range(hp.inner):
            loss = nn.functional.cross_entropy(head(features), y)
            opt.zero_grad()
            loss.backward()
            opt.step()
        encoder.eval()
        with torch.no_grad():
            acc = (head(encoder(x)).argmax(1) == y).float().mean().item()
        encoder.train()
        print(f"batch {b}: loss {loss.item():.3f}, accuracy {acc:.2f}")


torch.manual_seed(37)
train(HParams())
