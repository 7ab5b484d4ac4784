from collections.abc import Callable

import torch
from torch import nn
from torch.nn import functional as F

from mail import SCRIPTS, ZONES, Pile
from trunk import Trunk


class Task:
    """A head on the trunk's vectors, with a learning rate of its own."""

    def __init__(
        self,
        name: str,
        outputs: int,
        criterion: Callable[[torch.Tensor, torch.Tensor], torch.Tensor],
        width: int = 24,
        lr: float = 0.05,
    ) -> None:
        self.name = name
        self.head = nn.Linear(width, outputs)
        self.criterion = criterion
        self.optimizer = torch.optim.SGD(self.head.parameters(), lr=lr, momentum=0.9)

    def learn(self, trunk: Trunk, pile: Pile) -> float:
        self.optimizer.zero_grad()
        loss = self.criterion(self.head(trunk.read(pile)), pile.labels[self.name])
        loss.backward()
        self.optimizer.step()
        return loss.item()


def grams_loss(output: torch.Tensor, target: torch.Tensor) -> torch.Tensor:
    return F.smooth_l1_loss(output.squeeze(1), target)


def all_tasks() -> list[Task]:
    return [
        Task("script", SCRIPTS, F.cross_entropy),
        Task("zone", ZONES, F.cross_entropy, lr=0.1),
        Task("grams", 1, grams_loss, lr=0.02),
    ]
