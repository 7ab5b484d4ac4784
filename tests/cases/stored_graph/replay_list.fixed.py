"""Continual learning: latent replay of earlier tasks."""
import random
import torch
import torch.nn as nn


class LatentReplay:
    def __init__(self, capacity):
        self.capacity, self.buffer = capacity, []

    def add(self, z, y):
        for latent, label in zip(z, y):
            if len(self.buffer) < self.capacity:
                self.buffer.append((latent, label))

    def sample(self, n):
        z, y = zip(*random.sample(self.buffer, n))
        return torch.stack(z), torch.stack(y)


random.seed(0)
torch.manual_seed(0)
feature = nn.Sequential(nn.Linear(6, 16), nn.Tanh())
classifier = nn.Linear(16, 4)
replay = LatentReplay(capacity=40)
opt = torch.optim.Adam([*feature.parameters(), *classifier.parameters()], lr=5e-3)
criterion = nn.CrossEntropyLoss()

for task in range(2):
    for _ in range(2):
        x = torch.randn(8, 6) + 2 * task
        y = torch.randint(2 * task, 2 * task + 2, (8,))
        z = feature(x)
        loss = criterion(classifier(z), y)
        if replay.buffer:
            old_z, old_y = replay.sample(8)
            loss = loss + criterion(classifier(old_z), old_y)
        opt.zero_grad()
        loss.backward()
        opt.step()
        replay.add(z.detach(), y)
