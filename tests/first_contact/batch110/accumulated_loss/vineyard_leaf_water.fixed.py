"""Leaf water potential in a vineyard from weather and soil, with a monotone penalty; a lab's own trainer."""
import collections

import torch
from torch import nn


class Meter:
    """Running means by name, for the progress line."""

    def __init__(self):
        self.sums, self.count = collections.defaultdict(float), 0

    def update(self, n, **values):
        self.count += n
        for name, value in values.items():
            self.sums[name] += value.item() * n

    def __str__(self):
        return ", ".join(f"{name} {float(total / self.count):.4f}" for name, total in self.sums.items())


def vineyard(rows, seed):
    g = torch.Generator().manual_seed(seed)
    x = torch.rand(rows, 5, generator=g)  # vapour deficit, radiation, soil water, wind, age
    psi = -0.4 - 0.9 * x[:, 0] * (1 - x[:, 2]) - 0.3 * x[:, 1] + 0.1 * x[:, 4]
    return x, psi + 0.03 * torch.randn(rows, generator=g)


class LeafNet(nn.Module):
    def __init__(self, hidden=24):
        super().__init__()
        self.body = nn.Sequential(nn.Linear(5, hidden), nn.Tanh(), nn.Linear(hidden, hidden), nn.Tanh())
        self.top = nn.Linear(hidden, 1)

    def forward(self, x):
        return self.top(self.body(x)).squeeze(-1)


class Trainer:
    def __init__(self, net, lr=0.01, weight=0.5):
        self.net, self.weight = net, weight
        self.opt = torch.optim.Adam(net.parameters(), lr=lr)
        self.meter = Meter()

    def parts(self, x, psi):
        misfit = nn.functional.mse_loss(self.net(x), psi)
        drier = x.clone()
        drier[:, 2] = (drier[:, 2] - 0.1).clamp(min=0)
        penalty = torch.relu(self.net(drier) - self.net(x)).mean()
        return misfit, penalty

    def fit(self, x, psi, epochs, batch=50):
        for epoch in range(epochs):
            for rows in torch.randperm(len(x)).split(batch):
                misfit, penalty = self.parts(x[rows], psi[rows])
                loss = misfit + self.weight * penalty
                self.opt.zero_grad()
                loss.backward()
                self.opt.step()
                self.meter.update(len(rows), misfit=misfit, penalty=penalty)
            yield epoch


def main():
    torch.manual_seed(27)
    trainer = Trainer(LeafNet())
    x, psi = vineyard(400, 1)
    test_x, test_psi = vineyard(200, 2)
    for epoch in trainer.fit(x, psi, epochs=6):
        with torch.no_grad():
            off = (trainer.net(test_x) - test_psi).abs().mean().item()
        print(f"epoch {epoch}: {trainer.meter}; test MAE {off:.4f} MPa")


main()
