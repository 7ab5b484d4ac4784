"""Rain amounts at a station as a gamma distribution whose shape and rate come from a network;
a third output is the chance of a dry day."""
from dataclasses import dataclass

import torch
import torch.nn as nn
import torch.nn.functional as F
from torch.distributions import Gamma


@dataclass
class Config:
    n_days: int = 512
    n_predictors: int = 10
    hidden: int = 48
    lr: float = 3e-3
    batch: int = 128
    epochs: int = 5
    seed: int = 17


class RainHead(nn.Module):
    def __init__(self, cfg: Config):
        super().__init__()
        self.trunk = nn.Sequential(
            nn.Linear(cfg.n_predictors, cfg.hidden), nn.SiLU(),
            nn.Linear(cfg.hidden, cfg.hidden), nn.SiLU(),
        )
        self.theta = nn.Linear(cfg.hidden, 3)

    def forward(self, x):
        out = self.theta(self.trunk(x))
        shape = F.softplus(out[:, 0]) + 1e-3
        rate = F.softplus(out[:, 1]) + 1e-3
        dry = torch.sigmoid(out[:, 2])
        return torch.stack([shape, rate, dry], dim=1)


def nll(theta, rain):
    shape, rate, dry = theta.unbind(1)
    wet = rain > 0
    dry = dry.clamp(1e-4, 1 - 1e-4)
    occurrence = F.binary_cross_entropy(dry, (~wet).float())
    amount = -Gamma(shape[wet], rate[wet]).log_prob(rain[wet]).mean()
    return occurrence + amount


def make_data(cfg):
    x = torch.randn(cfg.n_days, cfg.n_predictors)
    dry = torch.rand(cfg.n_days) < torch.sigmoid(1.5 * x[:, 0])
    rain = Gamma(F.softplus(x[:, 1]) + 0.5, torch.ones(cfg.n_days)).sample() + 1e-3
    return x, rain.masked_fill(dry, 0.0)


def train(cfg: Config):
    torch.manual_seed(cfg.seed)
    x, rain = make_data(cfg)
    model = RainHead(cfg)
    opt = torch.optim.AdamW(model.parameters(), lr=cfg.lr)
    for epoch in range(cfg.epochs):
        order = torch.randperm(cfg.n_days)
        for rows in order.split(cfg.batch):
            loss = nll(model(x[rows]), rain[rows])
            opt.zero_grad()
            loss.backward()
            opt.step()
        print(f"epoch {epoch}: nll {loss.item():.3f}")


if __name__ == "__main__":
    train(Config())
