"""An external memory with content-based reading and one written slot per step."""

import torch
import torch.nn as nn
import torch.nn.functional as F


class SlotMemory(nn.Module):
    """`slots` vectors per dialogue; reads by similarity, writes in round-robin order."""

    def __init__(self, slots, width):
        super().__init__()
        self.slots, self.width = slots, width
        self.initial = nn.Parameter(0.1 * torch.randn(slots, width))
        self.gate = nn.Linear(2 * width, 1)
        self.content = None
        self.position = 0

    def reset(self, batch_size):
        self.content = self.initial.expand(batch_size, -1, -1).clone()
        self.position = 0

    def read(self, key):
        keys = F.normalize(key, dim=-1).unsqueeze(1)
        similarity = (keys * self.content).sum(-1)
        weights = similarity.softmax(dim=-1)
        return torch.einsum("bs,bsw->bw", weights, self.content)

    def write(self, value):
        slot = self.position % self.slots
        old = self.content[:, slot].clone()
        keep = torch.sigmoid(self.gate(torch.cat([old, value], dim=-1)))
        self.content[:, slot] = keep * old + (1 - keep) * value
        self.position += 1
