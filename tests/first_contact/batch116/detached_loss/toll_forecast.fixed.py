"""Forecast how many cars pass a toll gate in the next quarter of an hour."""

import copy
import math

import torch
from torch import nn


class Gate:
    """Counts per quarter of an hour, scaled, cut into (last 12, next) pairs."""

    def __init__(self, days, seed, reach=12):
        gen = torch.Generator().manual_seed(seed)
        quarter = torch.arange(days * 96) / 96 * 2 * math.pi
        rush = (2 * quarter).sin().clamp(min=0) + 0.3 * quarter.cos()
        counts = rush + 0.25 * torch.randn(len(quarter), generator=gen)
        windows = counts.unfold(0, reach + 1, 1)
        self.past, self.next = windows[:, :-1], windows[:, -1:]

    def batches(self, size, gen=None):
        order = torch.arange(len(self.past))
        if gen is not None:
            order = torch.randperm(len(self.past), generator=gen)
        for rows in order.split(size):
            yield self.past[rows], self.next[rows]


class Callback:
    def on_epoch_start(self, trainer): ...

    def on_epoch_end(self, trainer): ...


class Cooling(Callback):
    def on_epoch_start(self, trainer):
        for group in trainer.optimizer.param_groups:
            group["lr"] = trainer.lr * 0.85**trainer.epoch


class KeepBest(Callback):
    """Looks at the held-out days after every epoch and keeps the weights that did best."""

    def __init__(self, gate, patience=4):
        self.gate = gate
        self.patience = patience
        self.best = math.inf
        self.weights = None
        self.misses = 0

    def on_epoch_end(self, trainer):
        trainer.model.eval()
        error, seen = 0.0, 0
        with torch.no_grad():
            for past, following in self.gate.batches(128):
                error += (trainer.model(past) - following).abs().sum().item()
                seen += len(past)
        error /= seen
        print(f"epoch {trainer.epoch}  train {trainer.mean:.4f}  held out {error:.4f}")
        if error >= self.best:
            self.misses += 1
            trainer.stop = self.misses >= self.patience
            return
        self.best, self.misses = error, 0
        self.weights = copy.deepcopy(trainer.model.state_dict())


class Trainer:
    def __init__(self, model, callbacks, lr=0.03):
        self.model = model
        self.callbacks = callbacks
        self.lr = lr
        self.optimizer = torch.optim.Adam(model.parameters(), lr=lr)
        self.criterion = nn.SmoothL1Loss()
        self.epoch, self.mean, self.stop = 0, math.nan, False

    def call(self, moment):
        for callback in self.callbacks:
            getattr(callback, moment)(self)

    def step(self, past, following):
        self.optimizer.zero_grad()
        loss = self.criterion(self.model(past), following)
        loss.backward()
        self.optimizer.step()
        return loss.item()

    def fit(self, gate, epochs):
        gen = torch.Generator().manual_seed(0)
        for self.epoch in range(epochs):
            self.call("on_epoch_start")
            self.model.train()
            losses = [self.step(*batch) for batch in gate.batches(64, gen)]
            self.mean = sum(losses) / len(losses)
            self.call("on_epoch_end")
            if self.stop:
                break


if __name__ == "__main__":
    torch.manual_seed(12)
    net = nn.Sequential(nn.Linear(12, 24), nn.ReLU(), nn.Dropout(0.1), nn.Linear(24, 1))
    keeper = KeepBest(Gate(days=2, seed=31))
    Trainer(net, [Cooling(), keeper]).fit(Gate(days=4, seed=30), epochs=10)
    print(f"best held-out error {keeper.best:.4f}")
