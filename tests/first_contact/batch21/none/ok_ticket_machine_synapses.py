"""Ticket machines of one town after the other: a handwriting net that should not forget.

Synaptic intelligence: the path integral takes the gradient of the task's loss alone, the step takes
the gradient of the loss with the penalty; both come from one forward.
"""
from contextlib import contextmanager

import torch
import torch.nn as nn
import torch.nn.functional as F


class Strategy:
    def __init__(self, net, lr):
        self.net = net
        self.opt = torch.optim.SGD(net.parameters(), lr=lr, momentum=0.9)

    @contextmanager
    def experience(self):
        self.before_experience()
        yield self
        self.after_experience()

    def before_experience(self): ...
    def after_experience(self): ...


class SynapticIntelligence(Strategy):
    def __init__(self, net, lr=0.05, strength=0.5, damping=0.1):
        super().__init__(net, lr)
        self.strength, self.damping = strength, damping
        self.names = [n for n, p in net.named_parameters() if p.requires_grad]
        self.importance = {n: torch.zeros_like(p) for n, p in net.named_parameters()}
        self.anchor = {n: p.detach().clone() for n, p in net.named_parameters()}

    def before_experience(self):
        self.path = {n: torch.zeros_like(p) for n, p in self.net.named_parameters()}
        self.start = {n: p.data.clone() for n, p in self.net.named_parameters()}

    def penalty(self):
        total = 0.0
        for n, p in self.net.named_parameters():
            total = total + (self.importance[n] * (p - self.anchor[n]) ** 2).sum()
        return self.strength * total

    def train_batch(self, x, y):
        params = dict(self.net.named_parameters())
        task_loss = F.cross_entropy(self.net(x), y)
        grads = torch.autograd.grad(task_loss, list(params.values()), retain_graph=True)
        before = {n: p.detach().clone() for n, p in params.items()}
        self.opt.zero_grad()
        (task_loss + self.penalty()).backward()
        self.opt.step()
        for (n, p), g in zip(params.items(), grads):
            self.path[n] -= g * (p.detach() - before[n])
        return task_loss.item()

    @torch.no_grad()
    def after_experience(self):
        for n, p in self.net.named_parameters():
            moved = p - self.start[n]
            self.importance[n] += (self.path[n] / (moved ** 2 + self.damping)).clamp_(min=0)
            self.anchor[n].copy_(p)


def town(k, n, shapes):
    y = torch.randint(len(shapes), (n,))
    tilt = torch.roll(shapes, k, dims=1)
    return tilt[y] + 0.5 * torch.randn(n, shapes.size(1)), y


def accuracy(net, x, y):
    net.eval()
    with torch.no_grad():
        right = (net(x).argmax(1) == y).float().mean().item()
    net.train()
    return right


if __name__ == '__main__':
    torch.manual_seed(55)
    shapes = torch.randn(4, 16)
    net = nn.Sequential(nn.Linear(16, 32), nn.ReLU(), nn.Dropout(0.1), nn.Linear(32, 4))
    learner = SynapticIntelligence(net)
    for k in range(3):
        with learner.experience() as now:
            for _ in range(10):
                last = now.train_batch(*town(k, 24, shapes))
        kept = [round(accuracy(net, *town(j, 100, shapes)), 2) for j in range(k + 1)]
        print(f'town {k}: loss {last:.3f} right {kept}')
