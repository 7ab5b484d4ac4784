# Continual learning: each weight's share of the falling loss, summed along the path.
import torch
from torch import nn


class SynapticIntelligence:
    def __init__(self, model, damping=0.1, strength=0.5):
        self.model, self.damping, self.strength = model, damping, strength
        self.anchor = {n: p.detach().clone() for n, p in model.named_parameters()}
        self.path_integral = {n: torch.zeros_like(p) for n, p in model.named_parameters()}

    def accumulate(self, before):
        for n, p in self.model.named_parameters():
            if p.grad is not None:
                self.path_integral[n] = self.path_integral[n] - p.grad * (p - before[n])

    def penalty(self):
        total = 0.0
        for n, p in self.model.named_parameters():
            drift = p - self.anchor[n]
            importance = self.path_integral[n].clamp(min=0) / (drift.detach() ** 2 + self.damping)
            total = total + (importance * drift**2).sum()
        return self.strength * total


def snapshot(model):
    return {n: p.detach().clone() for n, p in model.named_parameters()}


def make_task(seed):
    g = torch.Generator().manual_seed(seed)
    x = torch.randn(64, 5, generator=g)
    return x, (x @ torch.randn(5, 1, generator=g) > 0).float()


torch.manual_seed(0)
model = nn.Sequential(nn.Linear(5, 10), nn.ReLU(), nn.Linear(10, 1))
si = SynapticIntelligence(model)
opt = torch.optim.SGD(model.parameters(), lr=0.1)
bce = nn.BCEWithLogitsLoss()

for task in range(2):
    x, y = make_task(task)
    for batch in torch.arange(64).chunk(4):
        before = snapshot(model)
        loss = bce(model(x[batch]), y[batch]) + si.penalty()
        opt.zero_grad()
        loss.backward(retain_graph=True)
        opt.step()
        si.accumulate(before)
    print("task", task, loss.item())
