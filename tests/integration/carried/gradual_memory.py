"""A memory bank of slots in a module, some rewritten at each step, kept as a list attribute."""

import torch
from torch import nn


class Bank(nn.Module):
    def __init__(self, slots=3, width=4):
        super().__init__()
        self.query = nn.Linear(width, width)
        self.write = nn.Linear(width, width)
        self.slots = [torch.zeros(width) for _ in range(slots)]
        self.turn = 0

    def forward(self, x):
        stacked = torch.stack(self.slots)
        weights = torch.softmax(self.query(x) @ stacked.t(), dim=-1)
        read = weights @ stacked
        self.slots[self.turn] = torch.tanh(self.write(x).mean(0) + read.mean(0))
        self.turn = (self.turn + 1) % len(self.slots)
        return read + x


def fit(bank, optimizer):
    for _ in range(5):
        x = torch.randn(2, 4)
        loss = (bank(x) - x.flip(0)).square().mean() + bank.slots[bank.turn - 1].square().mean()
        optimizer.zero_grad()
        loss.backward()
        optimizer.step()


torch.manual_seed(11)
bank = Bank()
fit(bank, torch.optim.SGD(bank.parameters(), lr=0.1))
