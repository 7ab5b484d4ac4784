"""Population-based training of a malt-quality model: the weak ones copy the strong ones."""
import copy
import random
from dataclasses import dataclass, field

import torch
import torch.nn.functional as F
from torch import nn


def malting_batches(count):
    x = torch.randn(count, 6)
    extract = 0.8 * x[:, 0] - 0.4 * x[:, 1] * x[:, 2] + 0.3 * torch.sin(2 * x[:, 3])
    return x, extract + 0.1 * torch.randn(count)


def make_net(width, drop):
    return nn.Sequential(nn.Linear(6, width), nn.GELU(), nn.Dropout(drop), nn.Linear(width, 1))


@dataclass
class Member:
    name: str
    net: nn.Module
    opt: torch.optim.Optimizer
    last: torch.Tensor = torch.tensor(float("inf"))
    score: float = float("inf")
    lineage: list = field(default_factory=list)

    def train_some(self, x, y, steps, batch=24):
        self.net.train()
        for _ in range(steps):
            rows = torch.randint(0, len(x), (batch,))
            loss = F.smooth_l1_loss(self.net(x[rows]).squeeze(-1), y[rows])
            self.opt.zero_grad()
            loss.backward()
            self.opt.step()
            self.last = loss.detach()

    def examine(self, x, y):
        self.net.eval()
        with torch.no_grad():
            self.score = F.smooth_l1_loss(self.net(x).squeeze(-1), y).item()

    @property
    def lr(self):
        return self.opt.param_groups[0]["lr"]

    def explore(self, rng):
        for group in self.opt.param_groups:
            group["lr"] *= rng.choice([0.6, 1.6])


class Population:
    def __init__(self, size, seed):
        self.rng = random.Random(seed)
        self.members = []
        for number in range(size):
            net = make_net(16, drop=0.05)
            lr = 10 ** self.rng.uniform(-4, -1.5)
            self.members.append(Member(f"m{number}", net, torch.optim.Adam(net.parameters(), lr=lr)))

    def exploit(self):
        self.members.sort(key=lambda member: member.score)
        best, worst = self.members[0], self.members[-1]
        child = copy.deepcopy(best)
        child.name = worst.name
        child.lineage.append(best.name)
        child.explore(self.rng)
        self.members[-1] = child

    def table(self):
        for m in sorted(self.members, key=lambda m: m.name):
            print(f"  {m.name} lr {m.lr:.5f} train {m.last.item():.4f} dev {m.score:.4f} {m.lineage}")


def main(rounds=4):
    torch.manual_seed(21)
    x, y = malting_batches(260)
    population = Population(4, seed=21)
    for number in range(rounds):
        for member in population.members:
            member.train_some(x[:200], y[:200], steps=8)
            member.examine(x[200:], y[200:])
        print("round", number)
        population.table()
        if number < rounds - 1:
            population.exploit()


if __name__ == "__main__":
    main()
