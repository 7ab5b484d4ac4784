"""Curling by REINFORCE: how hard and in which direction to send the stone; callbacks keep records."""
from collections import defaultdict

import torch
import torch.nn as nn
from torch.distributions import Normal


class Callback:
    def on_end(self, number, metrics):
        pass


class History(Callback):
    """Everything that is measured, to be drawn after the season."""

    def __init__(self):
        self.records = defaultdict(list)

    def on_end(self, number, metrics):
        for name, value in metrics.items():
            self.records[name].append(value.clone() if torch.is_tensor(value) else value)

    def mean(self, name, last=20):
        return float(sum(self.records[name][-last:]) / len(self.records[name][-last:]))


class Printer(Callback):
    def __init__(self, history, every):
        self.history, self.every = history, every

    def on_end(self, number, metrics):
        if number % self.every == self.every - 1:
            print(f"end {number + 1}: distance {self.history.mean('distance'):.3f} "
                  f"entropy {self.history.mean('entropy'):.3f}")


class Skip(nn.Module):
    def __init__(self, width=24):
        super().__init__()
        self.body = nn.Sequential(nn.Linear(2, width), nn.Tanh())
        self.mean = nn.Linear(width, 2)
        self.spread = nn.Linear(width, 2)

    def forward(self, house):
        h = self.body(house)
        return Normal(self.mean(h), nn.functional.softplus(self.spread(h)) + 0.05)


class Season:
    def __init__(self, skip, callbacks, entropy_weight=0.02, lr=5e-3):
        self.skip, self.callbacks, self.entropy_weight = skip, callbacks, entropy_weight
        self.optimizer = torch.optim.Adam(skip.parameters(), lr=lr)
        self.baseline = 0.0

    def losses(self, dist, throw, distance):
        reward = -distance
        log_prob = dist.log_prob(throw).sum(-1)
        policy = -(log_prob * (reward - self.baseline)).mean()
        self.baseline = 0.9 * self.baseline + 0.1 * reward.mean().item()
        entropy = dist.entropy().sum(-1).mean()
        extras = {"entropy": entropy, "distance": distance.mean()}
        return policy - self.entropy_weight * entropy, extras

    def play(self, ends, stones=16):
        for number in range(ends):
            house = torch.rand(stones, 2) - 0.5
            dist = self.skip(house)
            throw = dist.sample()
            distance = (0.8 * throw - house).norm(dim=-1)
            loss, extras = self.losses(dist, throw, distance)
            self.optimizer.zero_grad()
            loss.backward()
            self.optimizer.step()
            metrics = {"loss": loss.item(), **extras}
            for callback in self.callbacks:
                callback.on_end(number, metrics)


torch.manual_seed(6)
history = History()
Season(Skip(), [history, Printer(history, 20)]).play(60)
