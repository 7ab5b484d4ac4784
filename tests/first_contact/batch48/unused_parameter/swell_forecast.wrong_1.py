

"""Swell height at a harbour buoy, with an auxiliary head for the wave period that
joins after a warm-up. Gradients are taken with autograd.grad so that each layer's
can be brought to unit length before AdamW sees them."""
import numpy as np
import torch
from torch import nn


class BuoyNet(nn.Module):
    def __init__(self, lags=16, width=20):
        super().__init__()
        self.trunk = nn.Sequential(nn.Conv1d(2, width, 5, padding=2), nn.ELU(),
                                   nn.AdaptiveAvgPool1d(4), nn.Flatten())
        self.height = nn.Linear(4 * width, 1)
        self.period = nn.Linear(4 * width, 1)

    def forward(self, series):
        h = self.trunk(series)
        return self.height(h).squeeze(1), self.period(h).squeeze(1)


def buoy_record(hours, seed):
    rng = np.random.default_rng(seed)
    t = np.arange(hours)
    height = 1.5 + 0.8 * np.sin(t / 9.0) + 0.3 * np.sin(t / 2.3) + 0.05 * rng.normal(size=hours)
    period = 8.0 + 2.0 * np.cos(t / 9.0 + 0.4) + 0.1 * rng.normal(size=hours)
    return np.stack([height, (period - 8.0) / 2.0]).astype(np.float32)


def windows(record, lags, batch):
    starts = np.arange(record.shape[1] - lags - 1)
    for at in range(0, len(starts) - batch + 1, batch):
        rows = starts[at:at + batch]
        past = np.stack([record[:, s:s + lags] for s in rows])
        nxt = np.stack([record[:, s + lags] for s in rows])
        yield torch.from_numpy(past), torch.from_numpy(nxt)


class LayerwiseStepper:
    def __init__(self, net, lr=2e-3, decay=0.05):
        self.weights = list(net.parameters())
        self.opt = torch.optim.AdamW(self.weights, lr=lr, weight_decay=decay)

    def __call__(self, objective):
        slopes = torch.autograd.grad(objective, self.weights, allow_unused=True)
        for w, s in zip(self.weights, slopes):
            w.grad = s / (s.norm() + 1e-8)
        self.opt.step()


def train(epochs=4, warm_up=2, lags=16):
    torch.manual_seed(4)
    net = BuoyNet(lags)
    stepper = LayerwiseStepper(net)
    record = buoy_record(240, seed=9)
    for epoch in range(epochs):
        seen = []
        for past, nxt in windows(record, lags, 32):
            height, period = net(past)
            objective = (height - nxt[:, 0]).square().mean()
            if epoch >= warm_up:
                objective = objective + 0.2 * (period - nxt[:, 1]).square().mean()
            stepper(objective)
            seen.append(objective.item())
        print(f"epoch {epoch}: {np.mean(seen):.4f}")


if __name__ == "__main__":
    train()
