# expect: pattern = none
"""
Elastic weight consolidation over three bird-song dialects.
Online variant: one running Fisher diagonal, the anchor is where the last dialect ended.
"""
import copy

import torch
from torch import nn
from torch.utils.data import DataLoader, TensorDataset


class EWC:
    def __init__(self, importance=40.0, gamma=0.9):
        self.importance, self.gamma = importance, gamma
        self.anchor, self.fisher = {}, {}

    def consolidate(self, model, loader):
        new = self._diagonal(copy.deepcopy(model), loader)
        for n, p in model.named_parameters():
            self.anchor[n] = p.detach().clone()
            self.fisher[n] = self.gamma * self.fisher[n] + new[n] if n in self.fisher else new[n]

    @staticmethod
    def _diagonal(model, loader):
        fisher = {n: torch.zeros_like(p) for n, p in model.named_parameters()}
        seen = 0
        for x, _ in loader:
            for xi in x:
                model.zero_grad()
                logits = model(xi[None])
                drawn = torch.distributions.Categorical(logits=logits).sample()
                nn.functional.cross_entropy(logits, drawn).backward()
                for n, p in model.named_parameters():
                    fisher[n] += p.grad ** 2
                seen += 1
        return {n: f / seen for n, f in fisher.items()}

    def penalty(self, model):
        loss = torch.zeros(())
        for n, p in model.named_parameters():
            if n not in self.fisher:
                continue
            loss += (self.fisher[n] * (p - self.anchor[n]) ** 2).sum()
        return 0.5 * self.importance * loss


def dialect(k, n=48):
    g = torch.Generator().manual_seed(100 + k)
    x = torch.randn(n, 10, generator=g)
    x[:, k] *= 3
    y = (x[:, k] > 0).long() + 2 * (x[:, k + 1] > 0).long()
    return DataLoader(TensorDataset(x, y), batch_size=12)


torch.manual_seed(0)
model = nn.Sequential(nn.Linear(10, 32), nn.ReLU(), nn.Linear(32, 4))
loaders = [dialect(k) for k in range(3)]
ewc = EWC()

for k, loader in enumerate(loaders):
    optimizer = torch.optim.Adam(model.parameters(), lr=5e-3)
    for epoch in range(8):
        running_ce = running_pen = 0.0
        for x, y in loader:
            optimizer.zero_grad()
            ce = nn.functional.cross_entropy(model(x), y)
            pen = ewc.penalty(model)
            loss = ce + pen
            loss.backward()
            optimizer.step()
            running_ce += ce.item()
            running_pen += pen.item()
    ewc.consolidate(model, loader)
    with torch.no_grad():
        acc = [sum((model(x).argmax(1) == y).sum().item() for x, y in l) / 48 for l in loaders]
    print(f"dialect {k}: ce {running_ce / len(loader):.3f} penalty {running_pen / len(loader):.4f}",
          "acc", [round(a, 2) for a in acc])
