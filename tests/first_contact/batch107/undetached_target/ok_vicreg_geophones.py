"""Two geophones hear the same quarry blast: embed both so that they agree (VICReg).

The stations are of different make, so each has an encoder of its own, and both of them learn.
"""
from itertools import chain

import numpy as np
import torch
from torch import nn

SAMPLES = 80


def blasts(n, rng):
    """Wavelet of the blast at both stations: another delay, another coupling, noise of its own."""
    freq, decay, kind = rng.uniform(3, 9, n), rng.uniform(4, 10, n), rng.integers(0, 3, n)
    t = np.linspace(0, 1, SAMPLES)

    def hear(delay, gain, noise):
        late = np.maximum(t[None] - delay - 0.02 * rng.random((n, 1)), 0)
        wave = np.sin(2 * np.pi * freq[:, None] * late) * np.exp(-decay[:, None] * late)
        wave += (kind[:, None] == 1) * 0.6 * np.sin(2 * np.pi * 15 * late) * np.exp(-3 * late)
        wave += (kind[:, None] == 2) * 0.8 * np.exp(-((late - 0.5) / 0.05) ** 2)
        return torch.tensor(gain * wave + noise * rng.standard_normal((n, SAMPLES)), dtype=torch.float32)

    return hear(0.05, 1.0, 0.15), hear(0.12, 0.5, 0.1), torch.from_numpy(kind)


def encoder(kernel, width=12, out=16):
    return nn.Sequential(
        nn.Conv1d(1, width, kernel, stride=2, bias=False), nn.BatchNorm1d(width), nn.ReLU(),
        nn.Conv1d(width, width, 5, stride=2), nn.ReLU(), nn.Flatten(), nn.LazyLinear(out))


class Agreement(nn.Module):
    def __init__(self, near, far, width=16, expand=32):
        super().__init__()
        self.near, self.far = near, far
        self.expand = nn.Sequential(nn.Linear(width, expand), nn.ReLU(), nn.Linear(expand, expand, bias=False))

    def forward(self, a, b):
        return self.expand(self.near(a[:, None])), self.expand(self.far(b[:, None]))


def spread(z):
    return torch.relu(1 - (z.var(0) + 1e-4).sqrt()).mean()


def overlap(z):
    z = z - z.mean(0)
    cov = z.T @ z / (len(z) - 1)
    return (cov.square().sum() - cov.diagonal().square().sum()) / z.shape[1]


def vicreg(prediction, target):
    same = nn.functional.mse_loss(prediction, target)
    return 10 * same + 10 * (spread(prediction) + spread(target)) + overlap(prediction) + overlap(target), same


@torch.no_grad()
def probe(model, train, test):
    """Ridge regression of the kind of blast on the embedding of the near station."""
    model.eval()
    a, _, kind = train
    x, y = model.near(a[:, None]), nn.functional.one_hot(kind, 3).float()
    x = torch.cat([x, torch.ones(len(x), 1)], 1)
    w = torch.linalg.solve(x.T @ x + 0.1 * torch.eye(x.shape[1]), x.T @ y)
    other = model.near(test[0][:, None])
    guess = (torch.cat([other, torch.ones(len(other), 1)], 1) @ w).argmax(1)
    model.train()
    return (guess == test[2]).float().mean().item()


def main():
    torch.manual_seed(44)
    torch.set_num_threads(1)
    rng = np.random.default_rng(44)
    train, test = blasts(512, rng), blasts(256, rng)
    model = Agreement(encoder(9), encoder(7))
    model(train[0][:2], train[1][:2])  # gives the lazy layers their size
    optimizer = torch.optim.AdamW(chain(model.near.parameters(), model.far.parameters(), model.expand.parameters()),
                                  lr=2e-3, weight_decay=1e-4)
    for epoch in range(6):
        figures = []
        for rows in torch.randperm(512).split(64):
            target, prediction = model(train[0][rows], train[1][rows])
            loss, same = vicreg(prediction, target)
            optimizer.zero_grad(set_to_none=True)
            loss.backward()
            optimizer.step()
            figures.append((loss.item(), same.item()))
        if epoch % 2:
            loss, same = np.mean(figures, 0)
            print(f"epoch {epoch}: loss {loss:.3f} agreement {same:.4f} kind right {probe(model, train, test):.3f}")


if __name__ == "__main__":
    main()
