"""Reptile over ferry routes: fuel from speed and wind, a start that suits every ship."""
import copy

import torch
import torch.nn.functional as F
from torch import nn

torch.manual_seed(6)


class FuelNet(nn.Module):
    def __init__(self, hidden=16):
        super().__init__()
        self.layers = nn.Sequential(nn.Linear(2, hidden), nn.Tanh(), nn.Linear(hidden, 1))

    def forward(self, trip):
        return self.layers(trip).squeeze(-1)


class Fleet:
    def __init__(self, seed):
        self.g = torch.Generator().manual_seed(seed)

    def ship(self, trips=24):
        drag, sail = torch.rand(2, generator=self.g) + 0.5
        trip = torch.rand(trips, 2, generator=self.g) * 2 - 1
        return trip, drag * trip[:, 0].pow(2) - 0.4 * sail * trip[:, 1]


class Reptile:
    def __init__(self, net, inner_lr=0.1, outer_lr=0.02, inner_steps=6):
        self.net = net
        self.inner_lr, self.inner_steps = inner_lr, inner_steps
        self.outer = torch.optim.Adam(self.net.parameters(), lr=outer_lr)

    def adapt(self, trip, fuel):
        learner = copy.deepcopy(self.net)
        inner = torch.optim.SGD(learner.parameters(), lr=self.inner_lr)
        for _ in range(self.inner_steps):
            pick = slice(0, 12)
            loss = F.mse_loss(learner(trip[pick]), fuel[pick])
            inner.zero_grad()
            loss.backward()
            inner.step()
        with torch.no_grad():
            unseen = F.mse_loss(learner(trip[12:]), fuel[12:])
        return learner, unseen.item()

    @torch.no_grad()
    def pull(self, learners):
        for start, *ends in zip(self.net.parameters(), *(learner.parameters() for learner in learners)):
            start.grad = start - torch.stack(ends).mean(0)

    def meta_step(self, ships):
        learners, errors = zip(*(self.adapt(*ship) for ship in ships))
        self.outer.zero_grad()
        self.pull(learners)
        self.outer.step()
        return sum(errors) / len(errors)


def main():
    fleet, reptile = Fleet(seed=13), Reptile(FuelNet())
    for iteration in range(30):
        error = reptile.meta_step([fleet.ship() for _ in range(4)])
        if iteration % 10 == 0:
            print(f"{iteration:3d}  after adapting {error:.4f}")
    print(f"end  after adapting {error:.4f}")


main()
