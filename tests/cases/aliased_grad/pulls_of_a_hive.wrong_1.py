"""A beehive's weight and brood warmth from weather: gradients of both, pulled towards each other where they disagree."""
from dataclasses import dataclass

import torch
from torch import nn

torch.manual_seed(21)


@dataclass
class Pull:
    of: str
    share: float
    slopes: list


class Hive(nn.Module):
    def __init__(self):
        super().__init__()
        self.weather = nn.Sequential(nn.Linear(7, 14), nn.Tanh())
        self.weight, self.warmth = nn.Linear(14, 1), nn.Linear(14, 1)

    def errors(self, days, weights, warmths):
        felt = self.weather(days)
        return {
            "weight": (self.weight(felt) - weights).square().mean(),
            "warmth": (self.warmth(felt) - warmths).square().mean(),
        }


class Keeper:
    def __init__(self, hive):
        self.hive = hive
        self.steps = torch.optim.SGD(hive.parameters(), lr=0.1)

    def pulls(self, errors):
        found = []
        for of, error in errors.items():
            for slope in (w.grad for w in self.hive.weather.parameters() if w.grad is not None):
                slope.zero_()
            error.backward(retain_graph=True)
            slopes = [w.grad.view_as(w) for w in self.hive.weather.parameters()]
            found.append(Pull(of, error.item(), slopes))
        return found

    def day(self, errors):
        self.steps.zero_grad()
        one, other = self.pulls(errors)
        whole = one.share + other.share
        for w, a, b in zip(self.hive.weather.parameters(), one.slopes, other.slopes):
            apart = torch.sign(a) != torch.sign(b)
            w.grad = torch.where(apart, (a * one.share + b * other.share) / whole, a + b)
        self.steps.step()


hive = Hive()
keeper = Keeper(hive)
days = torch.randn(90, 7)
weights, warmths = days[:, :3].sum(1, keepdim=True), days[:, 1:2] - days[:, :1]
for day in range(30):
    errors = hive.errors(days, weights, warmths)
    keeper.day(errors)
    if day % 10 == 9:
        print(day, {of: round(error.item(), 3) for of, error in errors.items()})
