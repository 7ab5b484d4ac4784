import torch
from torch import nn


class MemoryCell(nn.Module):
    def __init__(self, n_in, n_hidden):
        super().__init__()
        self.cell = nn.GRUCell(n_in, n_hidden)
        self.memory = torch.zeros(1, n_hidden)

    def forward(self, x):
        self.memory = self.cell(x, self.memory)
        return self.memory
