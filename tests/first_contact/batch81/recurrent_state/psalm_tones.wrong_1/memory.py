import torch
import torch.nn as nn
import torch.nn.functional as F


class CompressiveMemory(nn.Module):
    """One associative matrix a head; read before a segment, written after it."""

    def __init__(self, width):
        super().__init__()
        self.width = width
        self.matrix = None
        self.norm = None

    def reset(self, batch):
        self.matrix = torch.zeros(batch, self.width, self.width)
        self.norm = torch.zeros(batch, self.width, 1)

    def read(self, query):
        q = F.elu(query) + 1
        return (q @ self.matrix) / (q @ self.norm + 1e-3)

    def write(self, key, value):
        k = F.elu(key) + 1
        self.matrix = self.matrix + k.transpose(1, 2) @ value / key.shape[1]
        self.norm = self.norm + k.mean(dim=1).unsqueeze(-1)
