# expect: pattern = missing-zero-grad
# expect: raises = nothing
# expect: carrier = optimizer, optim, grad
"""Quantiles of tram delays from line, hour and weather. Validation loss jumps up and down, lower lr only hides it."""
from typing import NamedTuple, Sequence

import numpy as np
import torch
from torch import nn, optim


class Batch(NamedTuple):
    line: torch.Tensor
    features: torch.Tensor
    delay: torch.Tensor


class DelayModel(nn.Module):
    def __init__(self, n_lines: int, quantiles: Sequence[float]):
        super().__init__()
        self.line_embedding = nn.Embedding(n_lines, 6)
        self.mlp = nn.Sequential(nn.Linear(6 + 4, 32), nn.GELU(), nn.LayerNorm(32), nn.Linear(32, len(quantiles)))

    def forward(self, batch: Batch):
        raw = self.mlp(torch.cat([self.line_embedding(batch.line), batch.features], dim=1))
        first, rest = raw[:, :1], nn.functional.softplus(raw[:, 1:])
        return torch.cat([first, first + rest.cumsum(1)], dim=1)


def pinball(pred, y, quantiles):
    q = torch.tensor(quantiles)
    diff = y[:, None] - pred
    return torch.maximum(q * diff, (q - 1) * diff).mean()


class Simulator:
    def __init__(self, seed=0, n_lines=9):
        self.rng = np.random.default_rng(seed)
        self.n_lines = n_lines
        self.temper = self.rng.uniform(0.5, 3.0, n_lines)

    def batch(self, n: int) -> Batch:
        line = self.rng.integers(0, self.n_lines, n)
        hour = self.rng.uniform(5, 24, n)
        rain = self.rng.exponential(1.0, n)
        rush = np.exp(-0.5 * ((hour - 8) / 1.5) ** 2) + np.exp(-0.5 * ((hour - 17) / 2) ** 2)
        delay = self.rng.gamma(2.0, 0.5 * self.temper[line] * (1 + rush + 0.2 * rain))
        feats = np.stack([np.sin(hour / 24 * 2 * np.pi), np.cos(hour / 24 * 2 * np.pi), rush, rain], 1)
        return Batch(torch.as_tensor(line), torch.as_tensor(feats, dtype=torch.float32),
                     torch.as_tensor(delay, dtype=torch.float32))


def run_epoch(model, sim, quantiles, optimizer=None, n_batches=8):
    training = optimizer is not None
    model.train(training)
    losses = []
    with torch.set_grad_enabled(training):
        for _ in range(n_batches):
            batch = sim.batch(64)
            if training:
                optimizer.zero_grad  # expect: place
            loss = pinball(model(batch), batch.delay, quantiles)
            if training:
                loss.backward()  # expect: place
                nn.utils.clip_grad_norm_(model.parameters(), 10.0)
                optimizer.step()
            losses.append(loss.item())
    return float(np.mean(losses))


def main():
    torch.manual_seed(0)
    quantiles = (0.1, 0.5, 0.9)
    sim = Simulator()
    model = DelayModel(sim.n_lines, quantiles)
    optimizer = optim.SGD(model.parameters(), lr=0.05, momentum=0.5)
    for epoch in range(4):
        train_loss = run_epoch(model, sim, quantiles, optimizer)
        valid_loss = run_epoch(model, sim, quantiles, n_batches=4)
        print(f"{epoch} train {train_loss:.3f} valid {valid_loss:.3f}")


if __name__ == "__main__":
    main()
