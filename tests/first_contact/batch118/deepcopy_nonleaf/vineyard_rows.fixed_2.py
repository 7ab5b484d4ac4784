"""Yield of vineyard rows from a season of measurements, with callbacks around the loop."""

import copy

import torch
from torch import nn


class SeasonPooling(nn.Module):
    """Weighs the weeks of a season against each other."""

    def __init__(self, channels):
        super().__init__()
        self.query = nn.Parameter(torch.randn(channels) / channels**0.5)
        self.key = nn.Linear(channels, channels)
        self.focus = None

    def forward(self, weeks):
        scores = self.key(weeks) @ self.query
        focus = scores.softmax(dim=1)
        if self.training:
            self.focus = focus
        return (focus[..., None] * weeks).sum(dim=1)

    def spread(self):
        """Entropy of the weights, large where many weeks count."""
        return -(self.focus * (self.focus + 1e-8).log()).sum(dim=1).mean()


class YieldModel(nn.Module):
    def __init__(self, channels=6):
        super().__init__()
        self.pool = SeasonPooling(channels)
        self.head = nn.Sequential(nn.Linear(channels, 16), nn.ReLU(), nn.Linear(16, 1))

    def forward(self, weeks):
        return self.head(self.pool(weeks)).squeeze(1)


class Callback:
    def on_start(self, run): ...

    def on_epoch(self, run, error): ...


class Printer(Callback):
    def on_epoch(self, run, error):
        print(f"epoch {run.epoch:2d}  held out {error:.4f}  lr {run.lr():.4f}")


class GoBack(Callback):
    """Whenever the held-out rows get worse: back to the best model so far, at half the rate."""

    def on_start(self, run):
        self.lowest = run.evaluate()
        self.best = copy.deepcopy(run.model)

    def on_epoch(self, run, error):
        if error < self.lowest:
            self.lowest = error
            run.model.pool.focus = None
            self.best = copy.deepcopy(run.model)
        else:
            run.model.load_state_dict(self.best.state_dict())
            for group in run.optimizer.param_groups:
                group["lr"] *= 0.5


class Run:
    def __init__(self, model, train, held_out, callbacks, lr=0.3, narrow=0.05):
        self.model, self.train_rows, self.held_out = model, train, held_out
        self.optimizer = torch.optim.SGD(model.parameters(), lr=lr)
        self.callbacks, self.narrow = callbacks, narrow

    def lr(self):
        return self.optimizer.param_groups[0]["lr"]

    @torch.no_grad()
    def evaluate(self):
        self.model.eval()
        weeks, harvest = self.held_out
        return (self.model(weeks) - harvest).pow(2).mean().item()

    def fit(self, epochs):
        for callback in self.callbacks:
            callback.on_start(self)
        weeks, harvest = self.train_rows
        for self.epoch in range(epochs):
            self.model.train()
            for rows in torch.arange(len(weeks)).split(16):
                self.optimizer.zero_grad()
                error = (self.model(weeks[rows]) - harvest[rows]).pow(2).mean()
                loss = error + self.narrow * self.model.pool.spread()
                loss.backward()
                self.optimizer.step()
            error = self.evaluate()
            for callback in self.callbacks:
                callback.on_epoch(self, error)


def vineyard(rows, weeks=9, channels=6):
    season = torch.randn(rows, weeks, channels)
    harvest = season[:, 4:8, 0].mean(dim=1) * 2 + season[:, 6, 2] + 0.2 * torch.randn(rows)
    return season, harvest


if __name__ == "__main__":
    torch.manual_seed(23)
    Run(YieldModel(), vineyard(96), vineyard(48), [Printer(), GoBack()]).fit(epochs=8)
