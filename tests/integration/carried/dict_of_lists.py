"""Hidden vectors of every layer of two towers: a dictionary of lists."""

import torch
from torch import nn


class Tower(nn.Module):
    def __init__(self, depth):
        super().__init__()
        self.cells = nn.ModuleList([nn.GRUCell(4, 4) for _ in range(depth)])

    def forward(self, x, hidden):
        new = []
        for cell, h in zip(self.cells, hidden):
            x = cell(x, h)
            new.append(x)
        return x, new


class Pair(nn.Module):
    def __init__(self):
        super().__init__()
        self.left = Tower(2)
        self.right = Tower(1)

    def forward(self, x, hidden):
        a, left = self.left(x, hidden["left"])
        b, right = self.right(x, hidden["right"])
        return a - b, {"left": left, "right": right}

    def initial(self, batch):
        zeros = lambda tower: [torch.zeros(batch, 4) for _ in tower.cells]
        return {"left": zeros(self.left), "right": zeros(self.right)}


def run():
    torch.manual_seed(5)
    pair = Pair()
    sgd = torch.optim.SGD(pair.parameters(), lr=0.1)
    hidden = pair.initial(2)
    data = torch.randn(6, 2, 4)
    i = 0
    while i < len(data):
        difference, hidden = pair(data[i], hidden)
        sgd.zero_grad()
        difference.pow(2).sum().backward()
        sgd.step()
        i += 1


run()
