"""Few-shot classification of sensor gestures: MAML with a self-supervised rotation head.

The inner loop adapts to the support set by its labels; the outer loss also asks for the
rotation that the query windows were turned by.
"""

import math
from dataclasses import dataclass

import torch
import torch.nn as nn
import torch.nn.functional as F
from torch.func import functional_call


@dataclass(frozen=True)
class MetaConfig:
    ways: int = 3
    shots: int = 4
    queries: int = 6
    inner_lr: float = 0.1
    inner_steps: int = 2
    outer_lr: float = 1e-2
    rotation_weight: float = 0.3
    tasks_per_step: int = 3
    steps: int = 5


class GestureNet(nn.Module):
    def __init__(self, ways, hidden=24, rotations=4):
        super().__init__()
        self.trunk = nn.Sequential(nn.Linear(2 * 8, hidden), nn.Tanh(), nn.Linear(hidden, hidden), nn.Tanh())
        self.class_head = nn.Linear(hidden, ways)
        self.rotation_head = nn.Linear(hidden, rotations)

    def forward(self, windows, head="class"):
        features = self.trunk(windows.flatten(1))
        return self.class_head(features) if head == "class" else self.rotation_head(features)


class GestureTasks:
    """Endless few-shot tasks: every class is a direction with its own rhythm."""

    def __init__(self, cfg):
        self.cfg = cfg

    def draw(self, prototypes, count):
        labels = torch.arange(self.cfg.ways).repeat_interleave(count)
        return prototypes[labels] + 0.2 * torch.randn(len(labels), 8, 2), labels

    def __iter__(self):
        while True:
            prototypes = torch.randn(self.cfg.ways, 8, 2)
            yield {
                "support": self.draw(prototypes, self.cfg.shots),
                "query": self.draw(prototypes, self.cfg.queries),
            }


def rotate(windows):
    turns = torch.randint(0, 4, (len(windows),))
    angle = turns * (math.pi / 2)
    rows = torch.stack([angle.cos(), -angle.sin(), angle.sin(), angle.cos()], -1).view(-1, 2, 2)
    return windows @ rows, turns


class MetaLearner:
    def __init__(self, net, cfg):
        self.net, self.cfg = net, cfg
        self.optimizer = torch.optim.Adam(net.parameters(), lr=cfg.outer_lr)

    def adapt(self, support):
        windows, labels = support
        params = dict(self.net.named_parameters())
        for _ in range(self.cfg.inner_steps):
            loss = F.cross_entropy(functional_call(self.net, params, (windows,)), labels)
            grads = torch.autograd.grad(loss, tuple(params.values()), allow_unused=True)
            params = {name: p if g is None else p - self.cfg.inner_lr * g for (name, p), g in zip(params.items(), grads)}
        return params

    def query_loss(self, params, query):
        windows, labels = query
        turned, turns = rotate(windows)
        logits = functional_call(self.net, params, (windows,))
        rotation = functional_call(self.net, params, (turned,), {"head": "rotation"})
        return F.cross_entropy(logits, labels) + self.cfg.rotation_weight * F.cross_entropy(rotation, turns)

    def meta_step(self, tasks):
        losses = [self.query_loss(self.adapt(task["support"]), task["query"]) for task in tasks]
        loss = torch.stack(losses).mean()
        self.optimizer.zero_grad()
        loss.backward()
        self.optimizer.step()
        return loss.item()


def main():
    torch.manual_seed(5)
    cfg = MetaConfig()
    learner = MetaLearner(GestureNet(cfg.ways), cfg)
    stream = iter(GestureTasks(cfg))
    for step in range(cfg.steps):
        loss = learner.meta_step([next(stream) for _ in range(cfg.tasks_per_step)])
        print(f"meta step {step}: query loss {loss:.4f}")


if __name__ == "__main__":
    main()
