"""Which ship is at the quay, from its radar profile; new ships are added as they call.

Class-incremental learning with a small memory of exemplars. Each season brings three ships.
"""
import random

import torch
import torch.nn.functional as F
from torch import nn

SEASONS, PER_SEASON, BINS = 3, 3, 32


class Harbour:
    def __init__(self, ships, generator):
        self.generator = generator
        self.length = 0.3 + 0.6 * torch.rand(ships, generator=generator)
        self.masts = torch.rand(ships, 4, generator=generator)

    def profiles(self, ship, count):
        x = torch.linspace(0, 1, BINS)
        hull = torch.sigmoid(40 * (self.length[ship] - x))
        peaks = torch.exp(-((x - self.masts[ship, :, None] * self.length[ship]) / 0.03) ** 2).sum(0)
        gain = 0.7 + 0.6 * torch.rand(count, 1, generator=self.generator)
        clutter = 0.2 * torch.randn(count, BINS, generator=self.generator)
        return gain * (hull + peaks) + clutter


class GrowingNet(nn.Module):
    def __init__(self, classes, width=32):
        super().__init__()
        self.trunk = nn.Sequential(nn.Linear(BINS, width), nn.ReLU(), nn.Linear(width, width), nn.ReLU())
        self.head = nn.Linear(width, classes)

    @property
    def classes(self):
        return self.head.out_features

    def grow(self, extra):
        """More outputs; what the old ones have learnt is carried over."""
        old = self.head
        wider = nn.Linear(old.in_features, old.out_features + extra)
        with torch.no_grad():
            wider.weight[: old.out_features] = old.weight
            wider.bias[: old.out_features] = old.bias
        self.head = wider

    def forward(self, x):
        return self.head(self.trunk(x))


class Memory:
    """A few exemplars of each ship that has called."""

    def __init__(self, per_class):
        self.per_class = per_class
        self.shelf = {}

    def add(self, label, profiles):
        keep = random.sample(range(len(profiles)), self.per_class)
        self.shelf[label] = profiles[keep]

    def tensors(self):
        x = [profiles for profiles in self.shelf.values()]
        y = [torch.full((len(p),), label) for label, p in self.shelf.items()]
        return x, y


class Incremental:
    def __init__(self, harbour, lr=0.02):
        self.harbour = harbour
        self.net = GrowingNet(PER_SEASON)
        self.opt = torch.optim.SGD(self.net.parameters(), lr=lr, momentum=0.9,
                                   weight_decay=1e-4)
        self.memory = Memory(per_class=10)

    def season(self, number, epochs=6):
        ships = range(number * PER_SEASON, (number + 1) * PER_SEASON)
        if number > 0:
            self.net.grow(PER_SEASON)
            self.opt.add_param_group({"params": list(self.net.head.parameters())})
        fresh = {ship: self.harbour.profiles(ship, 60) for ship in ships}
        old_x, old_y = self.memory.tensors()
        x = torch.cat([*fresh.values(), *old_x])
        y = torch.cat([*(torch.full((60,), ship) for ship in fresh), *old_y])
        for _ in range(epochs):
            for rows in torch.randperm(len(x)).split(32):
                loss = F.cross_entropy(self.net(x[rows]), y[rows])
                self.opt.zero_grad()
                loss.backward()
                self.opt.step()
        for ship, profiles in fresh.items():
            self.memory.add(ship, profiles)
        return loss.item()

    @torch.no_grad()
    def accuracy(self, ships):
        hits = [self.net(self.harbour.profiles(s, 40)).argmax(1).eq(s).float().mean() for s in ships]
        return sum(hits).item() / len(hits)


def main():
    torch.manual_seed(16)
    random.seed(16)
    harbour = Harbour(SEASONS * PER_SEASON, torch.Generator().manual_seed(16))
    learner = Incremental(harbour)
    for number in range(SEASONS):
        loss = learner.season(number)
        known = learner.net.classes
        newest = learner.accuracy(range(known - PER_SEASON, known))
        everything = learner.accuracy(range(known))
        print(f"season {number}: {known} ships, last loss {loss:.3f}, "
              f"newest {newest:.2f}, all {everything:.2f}")


main()
