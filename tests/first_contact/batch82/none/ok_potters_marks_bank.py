"""Potters' marks told apart without labels: a student, a slow teacher and a bank of old keys."""
from collections import deque

import copy

import torch
import torch.nn.functional as F
from torch import nn


class KeyBank:
    def __init__(self, size, width):
        self.keys = F.normalize(torch.randn(size, width), dim=1)
        self.at = 0

    @torch.no_grad()
    def write(self, keys):
        rows = (self.at + torch.arange(len(keys))) % len(self.keys)
        self.keys[rows] = keys
        self.at = (self.at + len(keys)) % len(self.keys)

    def read(self):
        return self.keys.clone()


class Contrast:
    def __init__(self, pixels=16, width=8, keep=0.95):
        self.student = nn.Sequential(nn.Linear(pixels, 20), nn.ReLU(), nn.Linear(20, width))
        self.teacher = copy.deepcopy(self.student).requires_grad_(False)
        self.keep = keep
        self.bank = KeyBank(64, width)
        self.opt = torch.optim.SGD(self.student.parameters(), lr=0.1, momentum=0.9)
        self.recent = deque(maxlen=5)

    @torch.no_grad()
    def follow(self):
        for slow, fast in zip(self.teacher.parameters(), self.student.parameters()):
            slow.lerp_(fast, 1 - self.keep)

    def loss(self, one, other):
        q = F.normalize(self.student(one), dim=1)
        k = F.normalize(self.teacher(other), dim=1)
        near = (q * k).sum(1, keepdim=True)
        far = q @ self.bank.read().t()
        logits = torch.cat([near, far], 1) / 0.2
        return F.cross_entropy(logits, torch.zeros(len(q), dtype=torch.long)), k

    def step(self, marks):
        one, other = (marks + 0.1 * torch.randn_like(marks) for _ in range(2))
        loss, k = self.loss(one, other)
        self.opt.zero_grad()
        loss.backward()
        self.opt.step()
        self.follow()
        self.bank.write(k)
        self.recent.append(loss.detach())
        return torch.stack(list(self.recent)).mean().item()


if __name__ == "__main__":
    torch.manual_seed(14)
    marks = torch.bernoulli(torch.full((40, 16), 0.4))
    study = Contrast()
    for step in range(30):
        mean = study.step(marks[torch.randperm(40)[:16]])
        if step % 6 == 5:
            print(step, round(mean, 4))
