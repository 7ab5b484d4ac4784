import math

import torch
import torch.nn as nn

SETTINGS = {"beta": 0.95, "patience": 50, "epochs": 3, "batch": 10, "lr": 0.01}


class LossMonitor:
    """Exponentially smoothed loss, with bias correction, and early stopping on it."""

    def __init__(self, beta, patience):
        self.beta, self.patience = beta, patience
        self.smoothed, self.updates = 0.0, 0
        self.best, self.since = math.inf, 0

    def update(self, loss):
        self.smoothed = self.beta * self.smoothed + (1 - self.beta) * loss
        self.updates += 1
        corrected = self.smoothed / (1 - self.beta ** self.updates)
        if corrected < self.best:
            self.best, self.since = float(corrected), 0
        else:
            self.since += 1
        return float(corrected)

    @property
    def should_stop(self):
        return self.since > self.patience


class AutoRegressor(nn.Module):
    def __init__(self, order=5):
        super().__init__()
        self.net = nn.Sequential(nn.Linear(order, 14), nn.ELU(), nn.Linear(14, 1))

    def forward(self, windows):
        return self.net(windows).squeeze(-1)


def series(n=126, order=5):
    t = torch.arange(n, dtype=torch.float32)
    s = torch.sin(t / 3) * torch.cos(t / 11) + 0.05 * torch.randn(n)
    w = s.unfold(0, order + 1, 1)
    return w[:, :order], w[:, order]


def main():
    torch.manual_seed(303)
    x, y = series()
    model = AutoRegressor()
    optimizer = torch.optim.Adam(model.parameters(), lr=SETTINGS["lr"])
    monitor = LossMonitor(SETTINGS["beta"], SETTINGS["patience"])
    for epoch in range(SETTINGS["epochs"]):
        for idx in torch.randperm(len(x)).split(SETTINGS["batch"]):
            loss = nn.functional.huber_loss(model(x[idx]), y[idx])
            optimizer.zero_grad()
            loss.backward()
            optimizer.step()
            shown = monitor.update(loss)
        print("epoch %d smoothed loss %.5f" % (epoch, shown))
        monitor.smoothed = monitor.smoothed.detach()
        if monitor.should_stop:
            break


if __name__ == "__main__":
    main()
