"""Power of a wind park one hour ahead, as a mixture of Gaussians."""
import math
from dataclasses import dataclass

import torch
import torch.nn as nn


@dataclass
class Config:
    lags: int = 8
    hidden: int = 24
    components: int = 3
    min_sigma: float = 0.05
    lr: float = 3e-3
    epochs: int = 3


class MixtureDensityNetwork(nn.Module):
    def __init__(self, cfg):
        super().__init__()
        self.cfg = cfg
        self.trunk = nn.Sequential(nn.Linear(cfg.lags, cfg.hidden), nn.Tanh(), nn.Linear(cfg.hidden, cfg.hidden), nn.Tanh())
        self.z_pi = nn.Linear(cfg.hidden, cfg.components)
        self.z_mu = nn.Linear(cfg.hidden, cfg.components)
        self.z_sigma = nn.Linear(cfg.hidden, cfg.components)

    def forward(self, x):
        h = self.trunk(x)
        log_pi = torch.log_softmax(self.z_pi(h), dim=-1)
        mu = self.z_mu(h)
        sigma = torch.exp(self.z_sigma(h))
        sigma = sigma + self.cfg.min_sigma
        return log_pi, mu, sigma


def mdn_loss(log_pi, mu, sigma, y):
    z = (y.unsqueeze(-1) - mu) / sigma
    log_prob = -0.5 * z ** 2 - sigma.log() - 0.5 * math.log(2 * math.pi)
    return -torch.logsumexp(log_pi + log_prob, dim=-1).mean()


def power_series(hours, generator):
    wind = torch.zeros(hours)
    for t in range(1, hours):
        wind[t] = 0.9 * wind[t - 1] + 0.4 * torch.randn((), generator=generator)
    return torch.sigmoid(2 * wind)


def windows(series, lags):
    x = series.unfold(0, lags + 1, 1)
    return x[:, :-1], x[:, -1]


def evaluate(model, x, y):
    model.eval()
    with torch.no_grad():
        return mdn_loss(*model(x), y).item()


def main(cfg):
    torch.manual_seed(101)
    x, y = windows(power_series(260, torch.Generator().manual_seed(101)), cfg.lags)
    x_train, y_train, x_valid, y_valid = x[:200], y[:200], x[200:], y[200:]
    model = MixtureDensityNetwork(cfg)
    optimizer = torch.optim.Adam(model.parameters(), lr=cfg.lr)
    print("untrained nll %.4f" % evaluate(model, x_valid, y_valid))
    for epoch in range(cfg.epochs):
        model.train()
        for idx in torch.randperm(len(x_train)).split(40):
            loss = mdn_loss(*model(x_train[idx]), y_train[idx])
            optimizer.zero_grad()
            loss.backward()
            optimizer.step()
        print("epoch %d  valid nll %.4f" % (epoch, evaluate(model, x_valid, y_valid)))


if __name__ == "__main__":
    main(Config())
