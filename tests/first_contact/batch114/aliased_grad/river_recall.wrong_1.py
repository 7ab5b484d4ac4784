"""Flood warnings for one river after another, without forgetting the rivers before.

Averaged episodic memory: a step on the new river must not point against the gradient on a sample
of old ones; where it does, that part of it is taken out.
"""
import random

import torch
import torch.nn as nn
import torch.nn.functional as F


class Memory:
    def __init__(self, per_river):
        self.per_river = per_river
        self.rows = []

    def remember(self, x, y):
        keep = torch.randperm(len(x))[: self.per_river]
        self.rows += list(zip(x[keep], y[keep]))

    def draw(self, count):
        picked = random.sample(self.rows, min(count, len(self.rows)))
        xs, ys = zip(*picked)
        return torch.stack(xs), torch.stack(ys)


class RecallTrainer:
    def __init__(self, net, lr=0.05, recall=24):
        self.net = net
        self.optimizer = torch.optim.SGD(net.parameters(), lr=lr)
        self.memory = Memory(per_river=20)
        self.recall = recall
        self.corrected = 0

    def gradients(self, x, y):
        """Gradient of the error on (x, y), one tensor per weight."""
        self.optimizer.zero_grad(set_to_none=False)
        F.binary_cross_entropy_with_logits(self.net(x).squeeze(1), y).backward()
        return [p.grad.detach() for p in self.net.parameters()]

    def project(self, current, reference):
        """Take the part out of `current` that points against `reference`."""
        dot = sum((c * r).sum() for c, r in zip(current, reference))
        if dot < 0:
            length = sum((r * r).sum() for r in reference)
            self.corrected += 1
            current = [c - dot / length * r for c, r in zip(current, reference)]
        return current

    def train_batch(self, x, y):
        reference = None
        if self.memory.rows:
            reference = self.gradients(*self.memory.draw(self.recall))
        current = self.gradients(x, y)
        if reference is not None:
            current = self.project(current, reference)
        for p, g in zip(self.net.parameters(), current):
            p.grad = g
        self.optimizer.step()

    def train_river(self, x, y, epochs=3):
        for _ in range(epochs):
            for part in torch.randperm(len(x)).split(16):
                self.train_batch(x[part], y[part])
        self.memory.remember(x, y)


def river(direction, n=64):
    """Which gauges matter differs from river to river."""
    x = torch.randn(n, 6)
    y = (x @ direction + 0.2 * torch.randn(n) > 0).float()
    return x, y


@torch.no_grad()
def accuracy(net, x, y):
    return ((net(x).squeeze(1) > 0).float() == y).float().mean().item()


def main():
    random.seed(6)
    torch.manual_seed(6)
    first = torch.randn(6)
    rivers = [river(first), river(-first + 0.5 * torch.randn(6)), river(torch.randn(6))]
    net = nn.Sequential(nn.Linear(6, 24), nn.ReLU(), nn.Linear(24, 1))
    trainer = RecallTrainer(net)
    for number, (x, y) in enumerate(rivers):
        trainer.train_river(x, y)
        seen = [accuracy(net, *r) for r in rivers[: number + 1]]
        print(f"after river {number}:", [round(a, 2) for a in seen], "corrected", trainer.corrected)


if __name__ == "__main__":
    main()
