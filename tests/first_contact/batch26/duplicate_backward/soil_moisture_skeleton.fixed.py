"""Small training skeleton in the manner of the big ones, with gradient accumulation."""
from __future__ import annotations

import math

import torch
from torch import nn


class Module(nn.Module):
    def training_step(self, batch, batch_idx):
        raise NotImplementedError

    def configure_optimizers(self):
        raise NotImplementedError

    def manual_backward(self, loss):
        (loss / self.accumulate).backward()

    accumulate = 1
    logged: dict[str, float]

    def log(self, name, value):
        self.logged[name] = float(value)


class Runner:
    def __init__(self, max_epochs=3, accumulate=2, clip=None):
        self.max_epochs, self.accumulate, self.clip = max_epochs, accumulate, clip

    def fit(self, module: Module, data):
        module.accumulate = self.accumulate
        module.logged = {}
        optimizer, scheduler = module.configure_optimizers()
        optimizer.zero_grad()
        for epoch in range(self.max_epochs):
            for idx, batch in enumerate(data):
                loss = module.training_step(batch, idx)
                self._backward(loss)
                if (idx + 1) % self.accumulate == 0:
                    if self.clip:
                        nn.utils.clip_grad_norm_(module.parameters(), self.clip)
                    optimizer.step()
                    optimizer.zero_grad()
            scheduler.step()
            print(epoch, {k: round(v, 4) for k, v in module.logged.items()})

    def _backward(self, loss):
        if not math.isfinite(loss.item()):
            return
        (loss / self.accumulate).backward()


class SoilMoisture(Module):
    """Quantiles of soil moisture from weather, with a penalty on crossing ones."""
    QUANTILES = (0.1, 0.5, 0.9)

    def __init__(self, features=8, width=24, lr=1e-2):
        super().__init__()
        self.lr = lr
        self.net = nn.Sequential(nn.Linear(features, width), nn.ELU(), nn.Linear(width, width), nn.ELU(), nn.Linear(width, 3))

    def pinball(self, out, y):
        q = torch.tensor(self.QUANTILES)
        gap = y - out
        return torch.maximum(q * gap, (q - 1) * gap).mean()

    def training_step(self, batch, batch_idx):
        x, y = batch
        out = self.net(x)
        fit = self.pinball(out, y)
        crossing = torch.relu(out[:, :-1] - out[:, 1:]).mean()
        loss = fit + 5.0 * crossing
        self.log("fit", fit)
        self.log("crossing", crossing)
        return loss

    def configure_optimizers(self):
        optimizer = torch.optim.AdamW(self.parameters(), lr=self.lr)
        return optimizer, torch.optim.lr_scheduler.ExponentialLR(optimizer, 0.9)


if __name__ == "__main__":
    torch.manual_seed(30)
    weather = torch.randn(192, 8)
    moist = (weather[:, :1] * 0.6 + weather[:, 1:2].tanh()) + 0.3 * torch.randn(192, 1)
    Runner(clip=1.0).fit(SoilMoisture(), list(zip(weather.split(32), moist.split(32))))
