"""Lichens: species from a photograph's colours, and an alignment with the habitat description."""
from dataclasses import dataclass
from typing import Optional

import torch
import torch.nn.functional as F
from torch import Tensor, nn


@dataclass
class Shot:
    colours: Tensor
    habitat: Tensor
    species: Tensor
    feat: Optional[Tensor] = None


class Eye(nn.Module):
    def __init__(self):
        super().__init__()
        self.stem = nn.Linear(12, 24)
        self.mid = nn.Linear(24, 16)
        self.name = nn.Linear(16, 5)

    def look(self, shot):
        shot.feat = self.mid(torch.sigmoid(self.stem(shot.colours)))
        return self.name(torch.relu(shot.feat))


def shots(n, size=20):
    for _ in range(n):
        yield Shot(torch.rand(size, 12), torch.randn(size, 7), torch.randint(5, (size,)))


def main():
    torch.manual_seed(8)
    eye, ground = Eye(), nn.Linear(7, 16)
    first = torch.optim.SGD(eye.parameters(), lr=0.1, momentum=0.9)
    second = torch.optim.SGD([*ground.parameters(), *eye.stem.parameters(), *eye.mid.parameters()], lr=0.02)
    for i, shot in enumerate(shots(15)):
        naming = F.cross_entropy(eye.look(shot), shot.species)
        first.zero_grad()
        naming.backward()
        first.step()

        eye.look(shot)
        align = 1 - F.cosine_similarity(shot.feat, ground(shot.habitat)).mean()
        second.zero_grad()
        align.backward()
        second.step()
        print(i, f"{naming.item():.3f} {align.item():.3f}")


main()
