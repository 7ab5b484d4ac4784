# Contrastive learning in two directions, each direction walked on its own.
from dataclasses import dataclass, field

import torch
import torch.nn.functional as F
from torch import nn


@dataclass
class State:
    model: nn.Module
    optimizer: torch.optim.Optimizer
    log: list = field(default_factory=list)


class TwoTower(nn.Module):
    def __init__(self):
        super().__init__()
        self.left, self.right = nn.Linear(6, 8), nn.Linear(9, 8)
        self.scale = nn.Parameter(torch.tensor(2.0))

    def forward(self, a, b):
        za, zb = F.normalize(self.left(a), dim=1), F.normalize(self.right(b), dim=1)
        return self.scale.exp() * za @ zb.T


def update(state, a, b):
    logits = state.model(a, b)
    labels = torch.arange(len(a))
    state.optimizer.zero_grad()
    for direction, scores in {"a2b": logits, "b2a": logits.T.detach().requires_grad_()}.items():
        loss = F.cross_entropy(scores, labels) / 2
        loss.backward()
        state.log.append((direction, loss.item()))
    state.optimizer.step()


torch.manual_seed(0)
model = TwoTower()
state = State(model, torch.optim.SGD(model.parameters(), lr=0.1))
for _ in range(3):
    update(state, torch.randn(5, 6), torch.randn(5, 9))
print(state.log)
