"""Tasting panel for tea: aroma, bitterness and price from one leaf analysis.

The three questions pull the shared layers in different directions; where two pulls oppose each
other, each is projected onto the plane of the other before they are added up.
"""

import random

import torch
import torch.nn.functional as F
from torch import Tensor, nn

TASKS = ("aroma", "bitter", "price")


class Panel(nn.Module):
    def __init__(self, leaf: int, width: int = 18) -> None:
        super().__init__()
        self.shared = nn.Sequential(nn.Linear(leaf, width), nn.Tanh(), nn.Linear(width, width))
        self.heads = nn.ModuleDict({task: nn.Linear(width, 1) for task in TASKS})

    def forward(self, leaves: Tensor, task: str) -> Tensor:
        return self.heads[task](torch.tanh(self.shared(leaves))).squeeze(-1)


class Surgeon:
    """Combines the gradients of several tasks on the same parameters."""

    def __init__(self, optimizer: torch.optim.Optimizer, seed: int = 0) -> None:
        self.optimizer = optimizer
        self.dice = random.Random(seed)

    @property
    def params(self) -> list[Tensor]:
        return [p for group in self.optimizer.param_groups for p in group["params"]]

    def _snapshot(self) -> list[Tensor]:
        return [
            torch.zeros_like(p) if p.grad is None else p.grad for p in self.params
        ]

    def backward(self, losses) -> None:
        pulls = []
        for loss in losses:
            self.optimizer.zero_grad(set_to_none=False)
            loss.backward()
            pulls = [self._snapshot()]
        flat = [torch.cat([g.flatten().clone() for g in pull]) for pull in pulls]
        self._write(sum(self._straighten(flat)))

    def _straighten(self, flat: list[Tensor]) -> list[Tensor]:
        straight = []
        for own in flat:
            bent = own.clone()
            others = list(flat)
            self.dice.shuffle(others)
            for other in others:
                along = torch.dot(bent, other)
                if along < 0:
                    bent = bent - along / other.pow(2).sum() * other
            straight.append(bent)
        return straight

    def _write(self, merged: Tensor) -> None:
        start = 0
        for p in self.params:
            p.grad = merged[start : start + p.numel()].view_as(p).clone()
            start += p.numel()

    def step(self) -> None:
        self.optimizer.step()


def harvest(count: int) -> tuple[Tensor, dict[str, Tensor]]:
    leaves = torch.randn(count, 7)
    base = torch.tanh(leaves @ torch.randn(7))
    tastes = {"aroma": base, "bitter": -base + 0.3 * leaves[:, 0], "price": base * leaves[:, 1]}
    return leaves, tastes


def main() -> None:
    torch.manual_seed(17)
    leaves, tastes = harvest(60)
    panel = Panel(leaf=7)
    surgeon = Surgeon(torch.optim.SGD(panel.parameters(), lr=0.2))
    for week in range(12):
        rows = torch.randperm(len(leaves))[:30]
        losses = [F.mse_loss(panel(leaves[rows], task), tastes[task][rows]) for task in TASKS]
        surgeon.backward(losses)
        surgeon.step()
        told = ", ".join(f"{task} {loss.item():.3f}" for task, loss in zip(TASKS, losses))
        print(f"week {week:2d}: {told}")


if __name__ == "__main__":
    main()
