import torch
from torch import nn

from mail import Pile


class Trunk(nn.Module):
    """Scans in, vectors out. Every task asks for the same pile, so the last one is kept."""

    def __init__(self, width: int = 24) -> None:
        super().__init__()
        self.layers = nn.Sequential(
            nn.Conv2d(1, 6, 3, padding=1),
            nn.Tanh(),
            nn.AvgPool2d(2),
            nn.Flatten(),
            nn.Linear(6 * 36, width),
            nn.Tanh(),
        )
        self._pile: Pile | None = None
        self._vectors = torch.empty(0)

    def read(self, pile: Pile) -> torch.Tensor:
        if pile is not self._pile:
            self._pile = pile
            self._vectors = self.layers(pile.scans)
        return self._vectors
