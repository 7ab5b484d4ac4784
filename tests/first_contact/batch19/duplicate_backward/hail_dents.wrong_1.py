"""Count the dents that hail left on a car's panel, from a relief picture (density map)."""
import argparse
import random

import numpy as np
import torch
from torch import nn
from torch.utils.data import DataLoader, Dataset


class Panels(Dataset):
    def __init__(self, n, size=20, seed=0):
        rng = np.random.default_rng(seed)
        self.items = []
        for _ in range(n):
            relief = 0.1 * rng.standard_normal((size, size))
            density = np.zeros((size, size))
            for _ in range(rng.integers(1, 6)):
                r, c = rng.integers(2, size - 2, size=2)
                relief[r - 1:r + 2, c - 1:c + 2] -= 1.0
                density[r, c] += 1.0
            self.items.append((relief.astype("float32")[None], density.astype("float32")[None]))

    def __len__(self):
        return len(self.items)

    def __getitem__(self, i):
        return self.items[i]


class DentNet(nn.Module):
    def __init__(self, width=10):
        super().__init__()
        self.down = nn.Sequential(nn.Conv2d(1, width, 3, padding=1), nn.ReLU(), nn.MaxPool2d(2))
        self.mid = nn.Sequential(nn.Conv2d(width, width, 3, padding=1), nn.ReLU())
        self.up = nn.ConvTranspose2d(width, width, 2, stride=2)
        self.out = nn.Conv2d(width, 1, 1)

    def forward(self, x):
        return self.out(torch.relu(self.up(self.mid(self.down(x)))))


class OptimizerStep:
    """with OptimizerStep(...) as step: ... step.total = loss"""

    def __init__(self, optimizer, scheduler=None, max_norm=None):
        self.optimizer, self.scheduler, self.max_norm = optimizer, scheduler, max_norm
        self.total = None

    def __enter__(self):
        self.optimizer.zero_grad()
        return self

    def __exit__(self, kind, error, trace):
        if kind is not None:
            return False
        self.total.backward()
        if self.max_norm:
            params = [p for g in self.optimizer.param_groups for p in g["params"]]
            nn.utils.clip_grad_norm_(params, self.max_norm)
        self.optimizer.step()
        if self.scheduler:
            self.scheduler.step()
        return False


def get_args():
    parser = argparse.ArgumentParser()
    parser.add_argument("--epochs", type=int, default=3)
    parser.add_argument("--batch-size", type=int, default=8)
    parser.add_argument("--lr", type=float, default=5e-3)
    parser.add_argument("--count-weight", type=float, default=0.05)
    parser.add_argument("--seed", type=int, default=13)
    return parser.parse_args()


def main():
    args = get_args()
    random.seed(args.seed)
    torch.manual_seed(args.seed)
    loader = DataLoader(Panels(40), batch_size=args.batch_size, shuffle=True)
    model = DentNet()
    optimizer = torch.optim.RMSprop(model.parameters(), lr=args.lr)
    scheduler = torch.optim.lr_scheduler.StepLR(optimizer, 5, gamma=0.7)
    for epoch in range(args.epochs):
        epoch_loss, wrong = 0.0, 0.0
        for relief, density in loader:
            with OptimizerStep(optimizer, scheduler, max_norm=50.0) as step:
                predicted = model(relief)
                map_loss = nn.functional.mse_loss(predicted, density)
                count_loss = (predicted.sum((1, 2, 3)) - density.sum((1, 2, 3))).abs().mean()
                loss = map_loss + args.count_weight * count_loss
                loss.backward(retain_graph=True)
                step.total = loss
            epoch_loss += loss.item()
            wrong += count_loss.item()
        print(f"[{epoch + 1}/{args.epochs}] loss {epoch_loss / len(loader):.4f} off by {wrong / len(loader):.2f}")


if __name__ == "__main__":
    main()
