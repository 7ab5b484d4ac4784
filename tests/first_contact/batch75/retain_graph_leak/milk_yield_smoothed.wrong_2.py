"""Daily milk yield of a herd from collar data; the estimate follows the days with some inertia."""
import time

import numpy as np
import torch
from torch import nn


class SmoothedYield(nn.Module):
    def __init__(self, n_features, n_cows, inertia=0.7):
        super().__init__()
        self.linear = nn.Linear(n_features, 1)
        self.inertia = inertia
        self.level = torch.full((n_cows,), 25.0)

    def forward(self, collar):
        today = 25.0 + self.linear(collar).squeeze(-1)
        self.level = self.inertia * self.level + (1 - self.inertia) * today
        return self.level


def herd(days, cows, features, rng):
    weights = rng.normal(0, 1.5, features)
    level = np.full(cows, 25.0)
    for _ in range(days):
        collar = rng.normal(0, 1, (cows, features))
        level = 0.7 * level + 0.3 * (25 + collar @ weights)
        milk = level + rng.normal(0, 0.3, cows)
        yield torch.tensor(collar, dtype=torch.float32), torch.tensor(milk, dtype=torch.float32)


def main():
    torch.manual_seed(1)
    rng = np.random.default_rng(1)
    model = SmoothedYield(n_features=6, n_cows=20)
    optimizer = torch.optim.SGD(model.parameters(), lr=0.05)
    criterion = nn.MSELoss()

    started, losses = time.time(), []
    for day, (collar, milk) in enumerate(herd(120, 20, 6, rng)):
        model.level = torch.full((20,), 25.0)
        estimate = model(collar)
        loss = criterion(estimate, milk)

        optimizer.zero_grad()
        loss.backward()
        optimizer.step()

        losses.append(loss.item())
        if day % 30 == 29:
            print(f"day {day + 1}: mse {np.mean(losses[-30:]):.3f}  ({time.time() - started:.2f} s)")


if __name__ == "__main__":
    main()
