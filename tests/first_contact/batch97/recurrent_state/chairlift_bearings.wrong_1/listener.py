"""The recurrent wear estimator and the book of what it remembers of each station."""
import torch
from torch import nn


class WearListener(nn.Module):
    def __init__(self, width=12):
        super().__init__()
        self.width = width
        self.embed = nn.Linear(2, width)
        self.cell = nn.GRUCell(width, width)
        self.gauge = nn.Linear(width, 1)

    def forward(self, window, memory):
        levels = []
        for sample in torch.tanh(self.embed(window)).unbind(1):
            memory = self.cell(sample, memory)
            levels.append(self.gauge(memory).squeeze(-1))
        return torch.stack(levels, 1), memory


class StationBook:
    """Stations come and go in any order, so their memories are kept by name."""

    def __init__(self, width):
        self.width = width
        self.pages = {}
        self.visits = {}

    def open(self, names):
        blank = torch.zeros(self.width)
        return torch.stack([self.pages.get(name, blank) for name in names])

    def note(self, names, memory):
        for name, row in zip(names, memory):
            self.pages[name] = row
            self.visits[name] = self.visits.get(name, 0) + 1

    def forget(self, name):
        self.pages.pop(name, None)
