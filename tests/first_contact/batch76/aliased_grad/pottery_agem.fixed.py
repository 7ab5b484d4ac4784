"""A-GEM on three excavation seasons of pottery measurements."""
import random

import torch
from torch import nn
import torch.nn.functional as F


def season(rot, n=96):
    x = torch.randn(n, 6)
    w = torch.randn(6, generator=torch.Generator().manual_seed(rot))
    return x, (x @ w > 0).long()


class EpisodicMemory:
    def __init__(self, per_season=16):
        self.per_season, self.items = per_season, []

    def add(self, x, y):
        self.items += list(zip(x[:self.per_season], y[:self.per_season]))

    def sample(self, k):
        picked = random.sample(self.items, min(k, len(self.items)))
        xs, ys = zip(*picked)
        return torch.stack(xs), torch.stack(ys)


def zero_grads(model):
    for p in model.parameters():
        if p.grad is not None:
            p.grad.zero_()


def reference_gradient(model, memory, k):
    x, y = memory.sample(k)
    zero_grads(model)
    F.cross_entropy(model(x), y).backward()
    return [p.grad.clone() for p in model.parameters()]


def project(model, ref_grads):
    g = torch.cat([p.grad.flatten() for p in model.parameters()])
    g_ref = torch.cat([r.flatten() for r in ref_grads])
    dot = torch.dot(g, g_ref)
    if dot >= 0:
        return False
    g = g - dot / torch.dot(g_ref, g_ref) * g_ref
    start = 0
    for p in model.parameters():
        p.grad.copy_(g[start:start + p.numel()].view_as(p))
        start += p.numel()
    return True


def accuracy(model, x, y):
    with torch.no_grad():
        return (model(x).argmax(1) == y).float().mean().item()


def main():
    torch.manual_seed(3)
    random.seed(3)
    model = nn.Sequential(nn.Linear(6, 24), nn.ReLU(), nn.Linear(24, 2))
    optimizer = torch.optim.SGD(model.parameters(), lr=0.1)
    memory = EpisodicMemory()
    seasons = [season(r) for r in (10, 20, 30)]
    for t, (x, y) in enumerate(seasons):
        projected = 0
        for epoch in range(2):
            for xb, yb in zip(x.split(12), y.split(12)):
                ref_grads = reference_gradient(model, memory, 24) if memory.items else None
                zero_grads(model)
                F.cross_entropy(model(xb), yb).backward()
                if ref_grads is not None:
                    projected += project(model, ref_grads)
                optimizer.step()
        memory.add(x, y)
        print(f"season {t}: projected {projected} of 16,",
              [round(accuracy(model, *s), 2) for s in seasons[:t + 1]])


if __name__ == "__main__":
    main()
