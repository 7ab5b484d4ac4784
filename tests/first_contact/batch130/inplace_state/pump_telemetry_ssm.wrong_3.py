"""Diagonal state-space network that forecasts pump telemetry, trained chunk by chunk on live feeds."""
import math

import numpy as np
import torch
import torch.nn.functional as F
from torch import nn

CONFIG = {
    "feeds": 16,
    "channels": 3,
    "length": 240,
    "chunk": 20,
    "width": 24,
    "states": 16,
    "epochs": 2,
    "lr": 4e-3,
    "seed": 11,
}


class DiagonalScan(nn.Module):
    """x_t = a * x_{t-1} + B u_t,  y_t = C x_t + D u_t, with a in (0, 1) for every state."""

    def __init__(self, width, states):
        super().__init__()
        self.states = states
        self.log_rate = nn.Parameter(torch.linspace(math.log(0.02), math.log(0.8), states))
        self.B = nn.Linear(width, states, bias=False)
        self.C = nn.Linear(states, width, bias=False)
        self.D = nn.Parameter(torch.ones(width))
        self.state = None

    def reset(self, feeds):
        self.state = torch.zeros(feeds, self.states)

    def truncate(self):
        self.state = self.state.detach()

    def forward(self, u):
        decay = torch.exp(-self.log_rate.exp())
        drive = self.B(u)
        ys = []
        for t in range(u.shape[1]):
            with torch.no_grad():
                self.state.mul_(decay).add_(drive[:, t])
            ys.append(self.C(self.state.clone()))
        return torch.stack(ys, dim=1) + self.D * u


class Forecaster(nn.Module):
    def __init__(self, channels, width, states, depth=2):
        super().__init__()
        self.lift = nn.Linear(channels, width)
        self.scans = nn.ModuleList(DiagonalScan(width, states) for _ in range(depth))
        self.norms = nn.ModuleList(nn.LayerNorm(width) for _ in range(depth))
        self.head = nn.Linear(width, channels)

    def start(self, feeds):
        for scan in self.scans:
            scan.reset(feeds)

    def truncate(self):
        for scan in self.scans:
            scan.truncate()

    def forward(self, x):
        h = self.lift(x)
        for scan, norm in zip(self.scans, self.norms):
            h = h + F.gelu(scan(norm(h)))
        return self.head(h)


def make_feeds(cfg):
    rng = np.random.default_rng(cfg["seed"])
    t = np.arange(cfg["length"] + 1)
    period = rng.uniform(15, 60, size=(cfg["feeds"], 1, cfg["channels"]))
    phase = rng.uniform(0, 6.28, size=(cfg["feeds"], 1, cfg["channels"]))
    clean = np.sin(2 * np.pi * t[None, :, None] / period + phase)
    noisy = clean + 0.05 * rng.standard_normal(clean.shape)
    return torch.tensor(noisy, dtype=torch.float32)


def run_epoch(net, optimizer, feeds, chunk):
    net.start(feeds.shape[0])
    total, count = 0.0, 0
    for lo in range(0, feeds.shape[1] - 1, chunk):
        window = feeds[:, lo : lo + chunk + 1]
        net.truncate()
        prediction = net(window[:, :-1])
        loss = F.smooth_l1_loss(prediction, window[:, 1:])
        optimizer.zero_grad()
        loss.backward()
        nn.utils.clip_grad_norm_(net.parameters(), 1.0)
        optimizer.step()
        total, count = total + loss.item(), count + 1
    return total / count


def main():
    torch.manual_seed(CONFIG["seed"])
    feeds = make_feeds(CONFIG)
    net = Forecaster(CONFIG["channels"], CONFIG["width"], CONFIG["states"])
    optimizer = torch.optim.AdamW(net.parameters(), lr=CONFIG["lr"])
    for epoch in range(CONFIG["epochs"]):
        print(f"epoch {epoch}: {run_epoch(net, optimizer, feeds, CONFIG['chunk']):.4f}")


if __name__ == "__main__":
    main()
