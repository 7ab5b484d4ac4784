"""Delta-rule memory: a matrix for every loom that is written and read at each line of cloth."""
from dataclasses import dataclass, field

import torch
import torch.nn.functional as F
from torch import nn


@dataclass
class ShedState:
    matrices: list = field(default_factory=list)
    lines: int = 0

    def new_rolls(self, changed):
        """Looms on which a new roll was put start with an empty memory."""
        keep = (~changed).float()[:, None, None]
        return ShedState([m.detach() * keep for m in self.matrices], self.lines)


class DeltaLayer(nn.Module):
    def __init__(self, width):
        super().__init__()
        self.qkv = nn.Linear(width, 3 * width, bias=False)
        self.rate = nn.Linear(width, 1)
        self.norm = nn.LayerNorm(width)

    def forward(self, x, memory):
        q, k, v = self.qkv(self.norm(x)).chunk(3, dim=-1)
        q, k = F.normalize(q, dim=-1), F.normalize(k, dim=-1)
        beta = torch.sigmoid(self.rate(x))
        read = []
        for t in range(x.shape[1]):
            recalled = torch.einsum("bij,bj->bi", memory, k[:, t])
            change = beta[:, t] * (v[:, t] - recalled)
            memory = memory + torch.einsum("bi,bj->bij", change, k[:, t])
            read.append(torch.einsum("bij,bj->bi", memory, q[:, t]))
        return x + torch.stack(read, 1), memory


class Inspector(nn.Module):
    def __init__(self, pixels, width=10, layers=2):
        super().__init__()
        self.width = width
        self.embed = nn.Linear(pixels, width)
        self.layers = nn.ModuleList(DeltaLayer(width) for _ in range(layers))
        self.out = nn.Linear(width, 1)

    def fresh(self, looms):
        return ShedState([torch.zeros(looms, self.width, self.width) for _ in self.layers])

    def forward(self, cloth, state):
        x = self.embed(cloth)
        matrices = []
        for layer, memory in zip(self.layers, state.matrices):
            x, memory = layer(x, memory)
            matrices.append(memory)
        after = ShedState(matrices, state.lines + cloth.shape[1])
        return self.out(x).squeeze(-1), after
