"""What the lab asks of a heat. Each property has a head, a loss and an optimizer of its own."""
from dataclasses import dataclass, field
from typing import Callable

import torch
from torch import nn


@dataclass
class Property:
    name: str
    criterion: Callable
    lr: float = 1e-2
    weight: float = 1.0
    width: int = 24
    seen: list = field(default_factory=list)

    def __post_init__(self):
        self.head = nn.Sequential(nn.Linear(self.width, 12), nn.Tanh(), nn.Linear(12, 1))
        self.optimizer = torch.optim.Adam(self.head.parameters(), lr=self.lr)

    def predict(self, structure):
        return self.head(structure).squeeze(-1)

    def learn(self, structure, truth):
        self.optimizer.zero_grad()
        loss = self.weight * self.criterion(self.predict(structure), truth)
        loss.backward(retain_graph=True)
        self.optimizer.step()
        self.seen.append(loss.item())

    def report(self, last=10):
        recent = self.seen[-last:]
        return f"{self.name} {sum(recent) / len(recent):.4f}"


def lab_sheet():
    return [
        Property("hardness", nn.functional.mse_loss),
        Property("toughness", nn.functional.mse_loss, weight=2.0),
        Property("cracked", nn.functional.binary_cross_entropy_with_logits, lr=5e-3, weight=0.3),
    ]
