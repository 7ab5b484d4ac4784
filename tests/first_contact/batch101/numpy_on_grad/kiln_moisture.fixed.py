"""Moisture of softwood boards leaving a drying kiln, from the kiln's own sensor log.

A small GRU reads forty steps of temperature, humidity and fan speed.
"""
import collections

import numpy as np
import torch
from torch import nn

STEPS, CHANNELS = 40, 3


def kiln_runs(count, rng):
    """Simulated charges: the wetter the air, the slower the boards dry."""
    temperature = 55 + np.cumsum(rng.normal(0.2, 0.4, (count, STEPS)), 1)
    humidity = np.clip(0.8 - np.cumsum(rng.normal(0.01, 0.01, (count, STEPS)), 1), 0.1, 1)
    fan = rng.choice([0.5, 1.0], (count, STEPS))
    rate = 0.02 * fan * (1 - humidity) * temperature / 60
    moisture = 0.6 * np.exp(-rate.sum(1)) + rng.normal(0, 0.005, count)
    x = np.stack([(temperature - 60) / 10, humidity, fan], -1)
    return torch.tensor(x, dtype=torch.float32), torch.tensor(moisture, dtype=torch.float32)


class KilnNet(nn.Module):
    def __init__(self, width=16):
        super().__init__()
        self.rnn = nn.GRU(CHANNELS, width, batch_first=True)
        self.out = nn.Linear(width, 1)

    def forward(self, x):
        _, last = self.rnn(x)
        return self.out(last[0]).squeeze(1)


class RunLog:
    """Collects named values during an epoch and prints their mean and spread."""

    def __init__(self):
        self.values = collections.defaultdict(list)

    def add(self, **items):
        for name, value in items.items():
            self.values[name].append(value)

    def flush(self, epoch):
        parts = []
        for name, values in self.values.items():
            parts.append(f"{name} {np.mean(values):.4f} +- {np.std(values):.4f}")
        self.values.clear()
        print(f"epoch {epoch}: " + ", ".join(parts))


def main():
    rng = np.random.default_rng(8)
    torch.manual_seed(8)
    x, y = kiln_runs(256, rng)
    net = KilnNet()
    optimizer = torch.optim.AdamW(net.parameters(), lr=5e-3)
    log = RunLog()
    for epoch in range(4):
        for rows in torch.randperm(len(x)).split(32):
            loss = nn.functional.smooth_l1_loss(net(x[rows]), y[rows])
            optimizer.zero_grad()
            loss.backward()
            optimizer.step()
            log.add(loss=loss.item(), lr=optimizer.param_groups[0]["lr"])
        log.flush(epoch)


main()
