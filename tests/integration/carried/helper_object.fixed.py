"""A small object that keeps a running context for the trainer."""

import torch
from torch import nn


class Context:
    def __init__(self, size):
        self.size = size
        self.vector = None
        self.updates = 0

    def read(self, batch):
        if self.vector is None:
            return torch.zeros(batch, self.size)
        return self.vector

    def write(self, vector):
        self.vector = vector.detach()
        self.updates += 1


class Trainer:
    def __init__(self):
        self.mix = nn.Linear(9, 5)
        self.score = nn.Linear(5, 1)
        self.context = Context(5)
        parameters = list(self.mix.parameters()) + list(self.score.parameters())
        self.optimizer = torch.optim.Adam(parameters)

    def step(self, x, y):
        joined = torch.cat([x, self.context.read(len(x))], dim=1)
        hidden = torch.tanh(self.mix(joined))
        self.context.write(hidden)
        loss = nn.functional.mse_loss(self.score(hidden), y)
        self.optimizer.zero_grad()
        loss.backward()
        self.optimizer.step()
        return loss.item()


torch.manual_seed(6)
trainer = Trainer()
losses = [trainer.step(torch.randn(3, 4), torch.randn(3, 1)) for _ in range(5)]
print(losses[-1])
