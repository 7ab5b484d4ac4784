"""Temperature of axle boxes from train speed and load; stops when the held-out wagons get no better."""
import copy

import torch
from torch import nn


class Mean:
    """Running mean of plain numbers."""

    def __init__(self):
        self.total, self.count = 0.0, 0

    def add(self, value, n):
        self.total += value * n
        self.count += n

    @property
    def value(self):
        return self.total / max(self.count, 1)


class Tracker:
    """One entry per epoch and split; remembers the best weights."""

    def __init__(self, patience):
        self.patience = patience
        self.curve = {"train": [], "held_out": []}
        self.best, self.best_epoch, self.weights = float("inf"), -1, None

    def epoch_end(self, net, **means):
        for split, mean in means.items():
            self.curve[split].append(mean)
        epoch = len(self.curve["train"]) - 1
        if means["held_out"] < self.best:
            self.best, self.best_epoch = float(means["held_out"]), epoch
            self.weights = copy.deepcopy(net.state_dict())
        return epoch - self.best_epoch >= self.patience

    def smoothed(self, split, last=5):
        tail = self.curve[split][-last:]
        return sum(tail) / len(tail)


def wagons(n, generator):
    x = torch.randn(n, 6, generator=generator)
    warm = 1.2 * x[:, 0] * x[:, 1].sigmoid() + 0.5 * x[:, 2] ** 2 - 0.3 * x[:, 5]
    return x, (warm + 0.1 * torch.randn(n, generator=generator))[:, None]


def run_epoch(net, data, loss_fn, optimizer, size=32):
    net.train()
    mean = Mean()
    x, y = data
    for rows in torch.randperm(len(x)).split(size):
        optimizer.zero_grad()
        loss = loss_fn(net(x[rows]), y[rows])
        loss.backward()
        nn.utils.clip_grad_norm_(net.parameters(), 5.0)
        optimizer.step()
        mean.add(loss.item(), len(rows))
    return mean.value


def check(net, data, loss_fn, size=64):
    net.eval()
    mean = Mean()
    x, y = data
    for at in range(0, len(x), size):
        guess = net(x[at:at + size])
        mean.add(loss_fn(guess, y[at:at + size]), len(guess))
    return mean.value


def main(epochs=25):
    generator = torch.Generator().manual_seed(3)
    seen, held_out = wagons(256, generator), wagons(128, generator)
    net = nn.Sequential(nn.Linear(6, 32), nn.SiLU(), nn.Dropout(0.05), nn.Linear(32, 32), nn.SiLU(), nn.Linear(32, 1))
    optimizer = torch.optim.AdamW(net.parameters(), lr=4e-3)
    loss_fn = nn.SmoothL1Loss()
    tracker = Tracker(patience=8)
    for epoch in range(epochs):
        train = run_epoch(net, seen, loss_fn, optimizer)
        val = check(net, held_out, loss_fn)
        stop = tracker.epoch_end(net, train=train, held_out=val)
        if epoch % 5 == 0:
            print(f"{epoch:3d}  train {train:.4f}  held out {val:.4f}  smooth {tracker.smoothed('held_out'):.4f}")
        if stop:
            break
    net.load_state_dict(tracker.weights)
    print(f"kept epoch {tracker.best_epoch} at {tracker.best:.4f}")


if __name__ == "__main__":
    torch.manual_seed(8)
    main()
