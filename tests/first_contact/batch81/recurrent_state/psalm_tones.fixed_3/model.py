import math

import torch
import torch.nn as nn

from memory import CompressiveMemory


class SegmentAttention(nn.Module):
    def __init__(self, width):
        super().__init__()
        self.project = nn.Linear(width, 3 * width)
        self.out = nn.Linear(width, width)
        self.gate = nn.Parameter(torch.zeros(1))
        self.memory = CompressiveMemory(width)

    def forward(self, x):
        q, k, v = self.project(x).split(x.shape[-1], dim=-1)
        scores = q @ k.transpose(1, 2) / math.sqrt(x.shape[-1])
        future = torch.ones(x.shape[1], x.shape[1], dtype=torch.bool).triu(1)
        local = scores.masked_fill(future, float("-inf")).softmax(-1) @ v
        remembered = self.memory.read(q)
        self.memory.write(k, v)
        g = torch.sigmoid(self.gate)
        return x + self.out(g * remembered + (1 - g) * local)


class ChantModel(nn.Module):
    def __init__(self, n_notes, width=16, depth=2):
        super().__init__()
        self.notes = nn.Embedding(n_notes, width)
        self.blocks = nn.ModuleList(SegmentAttention(width) for _ in range(depth))
        self.head = nn.Linear(width, n_notes)

    def reset_memory(self, batch):
        for block in self.blocks:
            block.memory.reset(batch)

    def forward(self, tokens):
        x = self.notes(tokens)
        for block in self.blocks:
            x = block(x)
        return self.head(x)
