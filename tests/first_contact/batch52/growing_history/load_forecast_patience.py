# expect: pattern = growing-history
# expect: raises = nothing
# expect: carrier = smoothed, value, best, update
"""Day-ahead load forecasting for a distribution feeder, early stopping on a smoothed pinball loss."""
import torch
from torch import nn

QUANTILES = torch.tensor([0.1, 0.5, 0.9])


def feeder_load(days):
    hour = torch.arange(24 * days)
    daily = 1.0 + 0.4 * torch.sin(2 * torch.pi * (hour - 8) / 24) + 0.15 * torch.sin(4 * torch.pi * hour / 24)
    weekend = 1.0 - 0.2 * ((hour // 24) % 7 >= 5)
    weather = torch.zeros(len(hour))
    for k in range(1, len(hour)):
        weather[k] = 0.97 * weather[k - 1] + 0.03 * torch.randn(())
    return daily * weekend + weather + 0.03 * torch.randn(len(hour))


def pinball(prediction, target):
    error = target[..., None] - prediction
    return torch.maximum(QUANTILES * error, (QUANTILES - 1) * error).mean()


class DayAhead(nn.Module):
    def __init__(self, context=72, hidden=32):
        super().__init__()
        self.net = nn.Sequential(nn.Linear(context, hidden), nn.ReLU(), nn.Dropout(0.05), nn.Linear(hidden, 24 * 3))

    def forward(self, x):
        level = x[:, -24:].mean(1, keepdim=True)
        out = self.net(x - level).view(-1, 24, 3)
        return out.cumsum(-1) * 0.5 + level[..., None]


class SmoothedMetric:
    """Exponentially smoothed value with the bias correction of Adam."""

    def __init__(self, decay=0.9):
        self.decay = decay
        self.smoothed = 0.0
        self.count = 0

    def update(self, value):
        self.count += 1
        self.smoothed = self.decay * self.smoothed + (1 - self.decay) * value  # expect: place
        return self.smoothed / (1 - self.decay**self.count)


class Patience:
    def __init__(self, metric, patience):
        self.metric, self.patience = metric, patience
        self.best, self.waited = float("inf"), 0

    def __call__(self, value):
        """True when training ought to stop"""
        current = self.metric.update(value)
        if current < self.best:
            self.best, self.waited = current, 0
        else:
            self.waited += 1
        return self.waited > self.patience


def batches(load, context, size, steps):
    for _ in range(steps):
        start = torch.randint(0, len(load) - context - 24, (size,))
        index = start[:, None] + torch.arange(context + 24)
        yield load[index].split([context, 24], dim=1)


def main():
    torch.manual_seed(101)
    load = feeder_load(30)
    model = DayAhead()
    optimizer = torch.optim.NAdam(model.parameters(), lr=5e-3)
    stop = Patience(SmoothedMetric(), patience=6)
    for step, (past, future) in enumerate(batches(load, 72, 32, steps=50)):
        loss = pinball(model(past), future)
        optimizer.zero_grad()
        loss.backward()
        optimizer.step()
        if stop(loss):  # expect: place
            print("early stop at step", step)
            break
        if step % 10 == 0:
            print(f"{step:3d} pinball {loss.item():.4f} smoothed best {float(stop.best):.4f}")


if __name__ == "__main__":
    main()
