import torch
from torch import nn


class Accumulator:
    def __init__(self, model, lr, every):
        self.model, self.every = model, every
        self.opt = torch.optim.SGD(model.parameters(), lr=lr)
        self.total, self.count = 0, 0

    def add(self, loss):
        self.total, self.count = self.total + loss, self.count + 1
        if self.count == self.every:
            self.opt.zero_grad()
            (self.total / self.count).backward()
            self.opt.step()
            self.total, self.count = 0, 0


torch.manual_seed(0)
model = nn.Sequential(nn.Linear(4, 4), nn.Tanh(), nn.Linear(4, 2))
accumulator = Accumulator(model, lr=0.1, every=3)
for _ in range(9):
    accumulator.add(nn.functional.cross_entropy(model(torch.randn(5, 4)), torch.randint(0, 2, (5,))))
