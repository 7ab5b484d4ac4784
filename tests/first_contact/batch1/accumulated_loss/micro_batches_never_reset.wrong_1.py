"""Gradient accumulation over micro-batches with a cosine schedule; logs an epoch mean."""
import argparse
import math

import numpy as np
import torch
from torch import nn


def parse():
    p = argparse.ArgumentParser(formatter_class=argparse.ArgumentDefaultsHelpFormatter)
    p.add_argument("--epochs", type=int, default=2)
    p.add_argument("--micro-batch", type=int, default=6)
    p.add_argument("--accumulate", type=int, default=4, help="micro-batches for each step")
    p.add_argument("--lr", type=float, default=0.05)
    p.add_argument("--warmup", type=int, default=1)
    p.add_argument("--seed", type=int, default=0)
    return p.parse_args()


class ConvNet(nn.Module):
    def __init__(self, p=0.1):
        super().__init__()
        self.conv = nn.Conv1d(1, 6, 5, padding=2)
        self.drop = nn.Dropout(p)
        self.fc = nn.Linear(6, 3)

    def forward(self, x):
        h = torch.relu(self.conv(x)).mean(dim=-1)
        return self.fc(self.drop(h))


def make_data(n, seed):
    rng = np.random.RandomState(seed)
    y = rng.randint(0, 3, n)
    t = np.linspace(0, 1, 24)
    x = np.stack([np.sin(2 * np.pi * (c + 1) * 2 * t + rng.rand()) for c in y])
    x += 0.3 * rng.randn(*x.shape)
    return torch.tensor(x[:, None], dtype=torch.float32), torch.tensor(y)


def main():
    args = parse()
    torch.manual_seed(args.seed)
    x, y = make_data(72, args.seed)
    model, criterion = ConvNet(), nn.CrossEntropyLoss()
    optimizer = torch.optim.SGD(model.parameters(), lr=args.lr, momentum=0.9, nesterov=True)
    scheduler = torch.optim.lr_scheduler.LambdaLR(
        optimizer, lambda s: min(1.0, (s + 1) / (args.warmup + 1)) * 0.5 * (1 + math.cos(math.pi * s / 8))
    )

    for epoch in range(args.epochs):
        seen = 0.0
        total = 0.0
        optimizer.zero_grad()
        for i, rows in enumerate(torch.randperm(len(x)).split(args.micro_batch)):
            loss = criterion(model(x[rows]), y[rows]) / args.accumulate
            seen += loss.item() * args.accumulate
            total = total + loss
            if (i + 1) % args.accumulate == 0:
                loss.backward()
                norm = nn.utils.clip_grad_norm_(model.parameters(), 2.0)
                optimizer.step()
                scheduler.step()
                optimizer.zero_grad()
        print(f"epoch {epoch} loss {seen / (i + 1):.4f} last grad norm {norm.item():.3f}")


if __name__ == "__main__":
    main()
