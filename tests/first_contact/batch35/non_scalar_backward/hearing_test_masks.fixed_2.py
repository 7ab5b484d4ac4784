"""Predict missing thresholds of an audiogram from those that were measured. Losses only where there is an answer."""
from __future__ import annotations

import dataclasses
from typing import Callable

import torch
from torch import Tensor, nn


@dataclasses.dataclass
class Config:
    seed: int = 9
    frequencies: int = 9
    hidden: int = 32
    batch_size: int = 16
    steps: int = 12
    lr: float = 1e-2
    hide: float = 0.3
    loss: str = "huber"
    reduction: str = "none"  # the mask has to be applied first


def build_loss(cfg: Config) -> Callable[[Tensor, Tensor], Tensor]:
    table = {
        "l1": nn.L1Loss,
        "l2": nn.MSELoss,
        "huber": nn.SmoothL1Loss,
    }
    return table[cfg.loss](reduction=cfg.reduction)


class MaskedLoss(nn.Module):
    def __init__(self, base: Callable[[Tensor, Tensor], Tensor]):
        super().__init__()
        self.base = base

    def forward(self, pred: Tensor, target: Tensor, mask: Tensor) -> Tensor:
        return (self.base(pred, target) * mask).mean()


class Infiller(nn.Module):
    def __init__(self, cfg: Config):
        super().__init__()
        self.net = nn.Sequential(
            nn.Linear(2 * cfg.frequencies, cfg.hidden), nn.GELU(),
            nn.Linear(cfg.hidden, cfg.hidden), nn.GELU(),
            nn.Linear(cfg.hidden, cfg.frequencies),
        )

    def forward(self, levels: Tensor, known: Tensor) -> Tensor:
        return self.net(torch.cat([levels * known, known], dim=-1))


def audiograms(cfg: Config):
    slope = torch.rand(cfg.batch_size, 1) * 0.08
    level = torch.rand(cfg.batch_size, 1) * 0.3
    axis = torch.arange(cfg.frequencies).float()
    levels = level + slope * axis + 0.02 * torch.randn(cfg.batch_size, cfg.frequencies)
    measured = (torch.rand_like(levels) > 0.1).float()
    known = measured * (torch.rand_like(levels) > cfg.hide).float()
    return levels, known, measured - known


def main(cfg: Config) -> None:
    torch.manual_seed(cfg.seed)
    model = Infiller(cfg)
    criterion = MaskedLoss(build_loss(cfg))
    optimizer = torch.optim.AdamW(model.parameters(), lr=cfg.lr)
    for step in range(cfg.steps):
        levels, known, wanted = audiograms(cfg)
        loss = criterion(model(levels, known), levels, wanted)
        optimizer.zero_grad(set_to_none=True)
        loss.backward()
        optimizer.step()
        print(step, float(loss.detach().mean()))


if __name__ == "__main__":
    main(Config())
