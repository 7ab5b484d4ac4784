"""Bicycle thefts per rack and week: a neural additive model, so that the council can read it.

log(rate) is a sum of one curve for each feature, each curve a small net of its own.
"""
import copy

import numpy as np
import torch
import torch.nn as nn

FEATURES = ["lamps", "station_m", "racks", "cameras", "night_share"]


def simulate(n, rng):
    x = rng.uniform(-1, 1, (n, len(FEATURES))).astype(np.float32)
    lamps, station, racks, cameras, night = x.T
    log_rate = (0.4 - 0.9 * np.tanh(3 * lamps) + 0.8 * np.exp(-4 * (station + 0.3) ** 2)
                + 0.5 * racks - 0.3 * (cameras > 0) + 0.7 * np.abs(night))
    exposure = rng.uniform(0.5, 2.0, n).astype(np.float32)
    y = rng.poisson(exposure * np.exp(log_rate)).astype(np.float32)
    return torch.from_numpy(x), torch.from_numpy(exposure), torch.from_numpy(y)


class ExU(nn.Module):
    """exp-centred unit: sharp jumps are cheap with it."""

    def __init__(self, units):
        super().__init__()
        self.log_w = nn.Parameter(torch.randn(1, units) * 0.3 + 0.7)
        self.centre = nn.Parameter(torch.rand(1, units) * 2 - 1)

    def forward(self, x):
        return torch.tanh((x - self.centre) * self.log_w.exp())


class ShapeFunction(nn.Module):
    def __init__(self, units=16, hidden=12):
        super().__init__()
        self.net = nn.Sequential(ExU(units), nn.Linear(units, hidden), nn.ReLU(),
                                 nn.Linear(hidden, 1, bias=False))

    def forward(self, x):
        return self.net(x)


class AdditiveModel(nn.Module):
    def __init__(self, features):
        super().__init__()
        self.features = features
        self.intercept = nn.Parameter(torch.zeros(1))
        self.gain = nn.Parameter(torch.ones(len(features)))
        self.shapes = [ShapeFunction() for _ in features]
        self.held = nn.ModuleList(copy.deepcopy(shape) for shape in self.shapes)

    def curves(self, x):
        parts = [shape(x[:, i:i + 1]) for i, shape in enumerate(self.shapes)]
        return torch.cat(parts, 1) * self.gain

    def forward(self, x, exposure):
        parts = self.curves(x)
        return self.intercept + parts.sum(1) + exposure.log(), parts


def deviance(log_mu, y):
    mu = log_mu.exp()
    return 2 * (torch.xlogy(y, y.clamp(min=1e-9)) - y * log_mu - (y - mu)).mean()


def evaluate(model, test):
    model.eval()
    x, exposure, y = test
    with torch.no_grad():
        log_mu, _ = model(x, exposure)
    model.train()
    return deviance(log_mu, y).item()


def fit(model, train, test, epochs=6, batch=50, spread=0.01):
    x, exposure, y = train
    optimizer = torch.optim.Adam(model.parameters(), lr=0.01)
    sched = torch.optim.lr_scheduler.CosineAnnealingLR(optimizer, epochs)
    for epoch in range(epochs):
        for rows in torch.randperm(len(x)).split(batch):
            optimizer.zero_grad()
            log_mu, parts = model(x[rows], exposure[rows])
            loss = nn.functional.poisson_nll_loss(log_mu, y[rows])
            loss = loss + spread * parts.pow(2).mean()  # small curves where the data say little
            loss.backward()
            optimizer.step()
        sched.step()
        print("epoch %d: deviance %.4f" % (epoch, evaluate(model, test)))


def main():
    torch.manual_seed(29)
    rng = np.random.default_rng(29)
    train, test = simulate(1000, rng), simulate(500, rng)
    flat = deviance((train[2].sum() / train[1].sum()).log() + test[1].log(), test[2])
    print("one rate for all: %.4f" % flat)
    model = AdditiveModel(FEATURES)
    fit(model, train, test)
    grid = torch.linspace(-1, 1, 5)[:, None].expand(-1, len(FEATURES))
    model.eval()
    for name, curve in zip(FEATURES, model.curves(grid).detach().T):
        print("%-12s %s" % (name, " ".join("%+.2f" % v for v in curve - curve.mean())))


if __name__ == "__main__":
    main()
