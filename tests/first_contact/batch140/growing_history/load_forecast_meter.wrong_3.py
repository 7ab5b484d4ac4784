"""Day-ahead forecast of the electricity load with an MLP on the last 24 hours."""
import math

import torch
import torch.nn as nn
import torch.nn.functional as F

WINDOW = 24


class AverageMeter:
    """Running average of a value over the whole run."""

    def __init__(self, name):
        self.name = name
        self.reset()

    def reset(self):
        self.val = 0.0
        self.sum = 0.0
        self.count = 0
        self.avg = 0.0

    def update(self, val, n=1):
        self.val = val
        self.sum += val * n
        self.count += n
        self.avg = self.sum / self.count

    def __str__(self):
        return f"{self.name} {float(self.val):.4f} ({float(self.avg):.4f})"


class LoadForecaster(nn.Module):
    def __init__(self, hidden=32, horizon=6):
        super().__init__()
        self.encoder = nn.Sequential(nn.Linear(WINDOW, hidden), nn.GELU())
        self.decoder = nn.Linear(hidden, horizon)

    def forward(self, window):
        level = window.mean(dim=1, keepdim=True)
        return level + self.decoder(self.encoder(window - level))


def synthetic_load(hours=400):
    t = torch.arange(hours, dtype=torch.float32)
    daily = torch.sin(2 * math.pi * t / 24)
    weekly = 0.5 * torch.sin(2 * math.pi * t / 168)
    return 3.0 + daily + weekly + 0.1 * torch.randn(hours)


def make_windows(series, horizon=6):
    chunks = series.unfold(0, WINDOW + horizon, 1)
    return chunks[:, :WINDOW], chunks[:, WINDOW:]


def batches(x, y, size=32):
    order = torch.randperm(len(x))
    for start in range(0, len(order) - size + 1, size):
        idx = order[start:start + size]
        yield x[idx], y[idx]


def train_epoch(model, optimizer, x, y, meter):
    model.train()
    for window, target in batches(x, y):
        pred = model(window)
        loss = F.smooth_l1_loss(pred, target).detach().requires_grad_(True)
        optimizer.zero_grad()
        loss.backward()
        optimizer.step()
        meter.update(loss, window.size(0))


@torch.no_grad()
def mean_abs_error(model, x, y):
    model.eval()
    return (model(x) - y).abs().mean().item()


def main():
    torch.manual_seed(17)
    x, y = make_windows(synthetic_load())
    x_train, y_train = x[:300], y[:300]
    x_val, y_val = x[300:], y[300:]
    model = LoadForecaster()
    optimizer = torch.optim.AdamW(model.parameters(), lr=2e-3)
    meter = AverageMeter("loss")
    for epoch in range(4):
        train_epoch(model, optimizer, x_train, y_train, meter)
        print(f"epoch {epoch} {meter} val mae {mean_abs_error(model, x_val, y_val):.4f}")


if __name__ == "__main__":
    main()
