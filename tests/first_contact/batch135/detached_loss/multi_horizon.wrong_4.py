"""Wind-farm forecasting: one trunk, one head per horizon, and a registry of weighted losses."""

from dataclasses import dataclass, field

import torch
import torch.nn as nn
import torch.nn.functional as F
from torch.utils.data import DataLoader, TensorDataset

LOSSES = {}


def loss_term(name):
    def wrap(function):
        LOSSES[name] = function
        return function

    return wrap


@loss_term("power")
def power_error(output, batch):
    return F.smooth_l1_loss(output["power"], batch["power"])


@loss_term("ramp")
def ramp_error(output, batch):
    """The change from one horizon to the next is what the grid operator looks at."""
    return F.mse_loss(output["power"].diff(dim=1), batch["power"].diff(dim=1))


@loss_term("quantile")
def pinball(output, batch, q=0.9):
    error = batch["power"] - output["upper"]
    return torch.maximum(q * error, (q - 1) * error).mean()


@dataclass
class Settings:
    horizons: int = 4
    window: int = 12
    hidden: int = 24
    batch_size: int = 32
    epochs: int = 4
    lr: float = 3e-3
    weights: dict = field(default_factory=lambda: {"power": 1.0, "ramp": 0.5, "quantile": 0.25})


class WindNet(nn.Module):
    def __init__(self, cfg):
        super().__init__()
        self.trunk = nn.Sequential(nn.Linear(cfg.window, cfg.hidden), nn.SiLU())
        self.power = nn.Linear(cfg.hidden, cfg.horizons)
        self.upper = nn.Linear(cfg.hidden, cfg.horizons)

    def forward(self, wind):
        features = self.trunk(wind)
        power = self.power(features)
        return {"power": power, "upper": power + F.softplus(self.upper(features))}


class WeightedLoss:
    def __init__(self, weights):
        unknown = set(weights) - set(LOSSES)
        if unknown:
            raise KeyError(f"no such loss: {sorted(unknown)}")
        self.weights = weights
        self.last = {}

    def __call__(self, output, batch):
        values = []
        for name, weight in self.weights.items():
            value = LOSSES[name](output, batch)
            self.last[name] = value.item()
            values.append(weight * value)
        stacked = torch.tensor(values, requires_grad=True)
        return values[0]


class Trainer:
    def __init__(self, cfg):
        self.cfg = cfg
        self.model = WindNet(cfg)
        self.criterion = WeightedLoss(cfg.weights)
        self.optimizer = torch.optim.Adam(self.model.parameters(), lr=cfg.lr)

    def step(self, wind, power):
        output = self.model(wind)
        loss = self.criterion(output, {"power": power})
        self.optimizer.zero_grad()
        loss.backward()
        self.optimizer.step()
        return loss.item()

    def fit(self, loader):
        for epoch in range(self.cfg.epochs):
            mean = sum(self.step(*batch) for batch in loader) / len(loader)
            terms = "  ".join(f"{name} {value:.3f}" for name, value in self.criterion.last.items())
            print(f"epoch {epoch}: total {mean:.4f}   {terms}")


def synthetic_farm(cfg, count=256):
    t = torch.arange(cfg.window + cfg.horizons) * 0.35
    phase = 6.28 * torch.rand(count, 1)
    speed = 1 + 0.6 * (t + phase).sin() + 0.1 * torch.randn(count, len(t))
    return TensorDataset(speed[:, : cfg.window], speed[:, cfg.window :].clamp(min=0).pow(3) / 3)


if __name__ == "__main__":
    torch.manual_seed(0)
    settings = Settings()
    Trainer(settings).fit(DataLoader(synthetic_farm(settings), settings.batch_size, shuffle=True))
