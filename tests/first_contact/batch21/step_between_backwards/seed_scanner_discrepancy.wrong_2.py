"""Two classifiers that disagree on purpose: seeds photographed in the lab (labelled) and on the
conveyor (unlabelled). After "maximum classifier discrepancy", three phases a batch.
"""
from dataclasses import dataclass

import torch
import torch.nn as nn
import torch.nn.functional as F


@dataclass
class Batch:
    xs: torch.Tensor
    ys: torch.Tensor
    xt: torch.Tensor
    feat_t: torch.Tensor = None


class PhaseMixin:
    def optim_step(self, loss, *which):
        for opt in self.opts.values():
            opt.zero_grad()
        loss.backward(retain_graph=True)
        for name in which:
            self.opts[name].step()
        return loss.item()

    def on_batch(self, batch):
        return {name: getattr(self, "phase_" + name)(batch) for name in self.phases}


class DiscrepancyTrainer(PhaseMixin):
    phases = ("source", "apart", "together")

    def __init__(self, dim, n_classes, rounds=2):
        self.rounds = rounds
        self.gen = nn.Sequential(nn.Linear(dim, 24), nn.ReLU(), nn.Linear(24, 16), nn.ReLU())
        self.c1 = nn.Sequential(nn.Linear(16, 16), nn.ReLU(), nn.Linear(16, n_classes))
        self.c2 = nn.Sequential(nn.Linear(16, 16), nn.ReLU(), nn.Linear(16, n_classes))
        heads = list(self.c1.parameters()) + list(self.c2.parameters())
        self.opts = {
            "gen": torch.optim.SGD(self.gen.parameters(), lr=0.05, momentum=0.9),
            "heads": torch.optim.SGD(heads, lr=0.05, momentum=0.9),
        }

    def supervised(self, batch):
        feat = self.gen(batch.xs)
        return F.cross_entropy(self.c1(feat), batch.ys) + F.cross_entropy(self.c2(feat), batch.ys)

    def discrepancy(self, feat):
        return (self.c1(feat).softmax(1) - self.c2(feat).softmax(1)).abs().mean()

    def phase_source(self, batch):
        return self.optim_step(self.supervised(batch), "gen", "heads")

    def phase_apart(self, batch):
        loss = self.supervised(batch) - self.discrepancy(batch.feat_t)
        return self.optim_step(loss, "heads")

    def phase_together(self, batch):
        for _ in range(self.rounds):
            last = self.optim_step(self.discrepancy(self.gen(batch.xt)), "gen")
        return last

    def fit(self, loader, epochs):
        for epoch in range(epochs):
            sums = dict.fromkeys(self.phases, 0.0)
            for xs, ys, xt in loader():
                batch = Batch(xs, ys, xt)
                batch.feat_t = self.gen(xt)
                for name, value in self.on_batch(batch).items():
                    sums[name] += value
            print("epoch", epoch, {k: round(v, 3) for k, v in sums.items()})


def seeds(n_batches=6, n=20, dim=10, classes=3):
    gen = torch.Generator().manual_seed(1)
    centres = 2 * torch.randn(classes, dim, generator=gen)
    belt = 0.6 * torch.randn(dim, generator=gen)
    for _ in range(n_batches):
        ys = torch.randint(classes, (n,), generator=gen)
        yt = torch.randint(classes, (n,), generator=gen)
        yield (centres[ys] + torch.randn(n, dim, generator=gen), ys,
               centres[yt] + belt + torch.randn(n, dim, generator=gen))


if __name__ == "__main__":
    torch.manual_seed(0)
    DiscrepancyTrainer(dim=10, n_classes=3).fit(seeds, epochs=2)
