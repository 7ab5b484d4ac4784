"""Semi-supervised training with an EMA teacher."""
import copy

import numpy as np
import torch
import torch.nn as nn
import torch.nn.functional as F


class Trainer:
    def __init__(self, student, decay=0.95, weight=0.5, lr=0.01):
        self.student, self.teacher = student, copy.deepcopy(student)
        for p in self.teacher.parameters():
            p.requires_grad = False
        self.decay, self.weight = decay, weight
        self.optim = torch.optim.Adam(student.parameters(), lr=lr)
        self.log = []

    def update_teacher(self):
        for t, s in zip(self.teacher.parameters(), self.student.parameters()):
            t.data.mul_(self.decay).add_(s.data, alpha=1 - self.decay)

    def step(self, x, y, u):
        sup = F.cross_entropy(self.student(x), y)
        target = self.teacher(u + 0.05 * torch.randn_like(u)).softmax(-1)
        cons = F.mse_loss(self.student(u + 0.05 * torch.randn_like(u)).softmax(-1), target)
        self.optim.zero_grad()
        (sup + self.weight * cons).backward()
        self.optim.step()
        self.update_teacher()
        self.log.append((sup.item(), cons.item()))


def spirals(rng, n):
    y = rng.integers(0, 2, n)
    r = rng.uniform(0.2, 1, n)
    a = 3 * r + np.pi * y
    return torch.tensor(np.stack([r * np.cos(a), r * np.sin(a)], 1), dtype=torch.float32), torch.tensor(y)


if __name__ == "__main__":
    rng = np.random.default_rng(14)
    torch.manual_seed(14)
    student = nn.Sequential(nn.Linear(2, 32), nn.ReLU(), nn.Dropout(0.1), nn.Linear(32, 2))
    trainer = Trainer(student)
    for _ in range(60):
        x, y = spirals(rng, 16)
        u, _ = spirals(rng, 32)
        trainer.step(x, y, u)
    print("supervised %.3f -> %.3f" % (trainer.log[0][0], trainer.log[-1][0]))
