# expect: pattern = stored-graph
# expect: also = undetached-target
# expect: raises = RuntimeError: Trying to backward through the graph a second time
# expect: carrier = fresh, mean
import math
from dataclasses import dataclass, field

import torch
import torch.nn as nn
import torch.nn.functional as F


@dataclass
class Options:
    labelled: int = 12
    unlabelled: int = 148
    batch: int = 40
    epochs: int = 12
    momentum: float = 0.6
    peak_weight: float = 3.0
    rampup: int = 8
    seed: int = 0


@dataclass
class Ensemble:
    """Exponential average, over epochs, of what the net said about each sample."""
    size: int
    classes: int
    momentum: float
    epoch: int = 0
    mean: torch.Tensor = field(init=False)
    fresh: torch.Tensor = field(init=False)

    def __post_init__(self):
        self.mean = torch.zeros(self.size, self.classes)
        self.fresh = torch.zeros(self.size, self.classes)

    def collect(self, rows, probs):
        self.fresh[rows] = probs  # expect: place

    def close_epoch(self):
        self.epoch += 1
        self.mean = self.momentum * self.mean + (1 - self.momentum) * self.fresh  # expect: place
        self.fresh = torch.zeros(self.size, self.classes)

    def target(self, rows):
        if self.epoch == 0:
            return self.mean[rows]
        # startup bias correction, as in Adam
        return self.mean[rows] / (1 - self.momentum ** self.epoch)  # expect: place


def two_moons(n):
    t = math.pi * torch.rand(n)
    side = torch.randint(2, (n,))
    x = torch.where(side == 0, torch.cos(t), 1 - torch.cos(t))
    y = torch.where(side == 0, torch.sin(t), 0.5 - torch.sin(t))
    return torch.stack([x, y], dim=1) + 0.08 * torch.randn(n, 2), side


def weight_at(epoch, opt):
    if epoch == 0:
        return 0.0
    phase = 1 - min(epoch, opt.rampup) / opt.rampup
    return opt.peak_weight * math.exp(-5 * phase ** 2)


def noisy(x):
    return x + 0.05 * torch.randn_like(x)


def run(opt):
    torch.manual_seed(opt.seed)
    x, y = two_moons(opt.labelled + opt.unlabelled)
    has_label = torch.arange(len(x)) < opt.labelled
    net = nn.Sequential(
        nn.Linear(2, 32), nn.LeakyReLU(0.1), nn.Dropout(0.2),
        nn.Linear(32, 32), nn.LeakyReLU(0.1), nn.Linear(32, 2),
    )
    adam = torch.optim.Adam(net.parameters(), lr=5e-3)
    ensemble = Ensemble(len(x), 2, opt.momentum)

    for epoch in range(opt.epochs):
        net.train()
        for rows in torch.randperm(len(x)).split(opt.batch):
            logits = net(noisy(x[rows]))
            probs = logits.softmax(dim=1)
            known = has_label[rows]
            supervised = F.cross_entropy(logits[known], y[rows][known], reduction="sum") / 3
            consistency = F.mse_loss(probs, ensemble.target(rows))  # expect: place
            loss = supervised + weight_at(epoch, opt) * consistency
            adam.zero_grad()
            loss.backward()  # expect: place
            adam.step()
            ensemble.collect(rows, probs)  # expect: place
        ensemble.close_epoch()
        net.eval()
        with torch.no_grad():
            accuracy = (net(x).argmax(1) == y).float().mean().item()
        print(f"epoch {epoch}  sup {supervised.item():.3f}  cons {consistency.item():.4f}  acc {accuracy:.2%}")


if __name__ == "__main__":
    run(Options())
