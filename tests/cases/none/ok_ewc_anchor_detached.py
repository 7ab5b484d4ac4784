# expect: pattern = none
# Elastic weight consolidation: Fisher information and anchors are numbers only.
import torch
from torch import nn


class EWC:
    def __init__(self, model, strength=10.0):
        self.model, self.strength, self.terms = model, strength, []

    def consolidate(self, x, y):
        fisher = {n: torch.zeros_like(p) for n, p in self.model.named_parameters()}
        for xi, yi in zip(x.split(1), y.split(1)):
            loss = nn.functional.cross_entropy(self.model(xi), yi)
            for (n, _), g in zip(
                self.model.named_parameters(), torch.autograd.grad(loss, list(self.model.parameters()))
            ):
                fisher[n] += g.pow(2) / len(x)
        self.terms.append((fisher, {n: p.detach().clone() for n, p in self.model.named_parameters()}))

    def penalty(self):
        total = torch.zeros(())
        for fisher, anchor in self.terms:
            for n, p in self.model.named_parameters():
                total = total + (fisher[n] * (p - anchor[n]) ** 2).sum()
        return self.strength * total


torch.manual_seed(0)
model = nn.Sequential(nn.Linear(4, 10), nn.ReLU(), nn.Linear(10, 2))
ewc, opt = EWC(model), torch.optim.SGD(model.parameters(), lr=0.1)
for task in range(3):
    x = torch.randn(16, 4) + task
    y = (x[:, task] > task).long()
    for xb, yb in zip(x.split(4), y.split(4)):
        loss = nn.functional.cross_entropy(model(xb), yb) + ewc.penalty()
        opt.zero_grad()
        loss.backward()
        opt.step()
    ewc.consolidate(x, y)
    print(task, loss.item())
