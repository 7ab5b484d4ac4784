"""Synthetic daily forcing and discharge for a handful of catchments."""
import math

import torch


def make_basins(n_basins=8, n_days=180):
    t = torch.arange(n_days, dtype=torch.float32)
    forcing, flow = [], []
    for b in range(n_basins):
        wet = torch.rand(n_days) < 0.3
        rain = wet * torch.rand(n_days) * 12.0
        temp = 8 + 9 * torch.sin(2 * math.pi * (t - 30 * b) / 365)
        k, store, q = 0.05 + 0.02 * b, 5.0, []
        for day in range(n_days):
            store = store + rain[day].item()
            q.append(k * store)
            store -= q[-1]
        forcing.append(torch.stack([rain / 5.0, temp / 10.0], dim=1))
        flow.append(torch.tensor(q))
    return torch.stack(forcing), torch.stack(flow)


def windows(n_days, length):
    for start in range(0, n_days - length + 1, length):
        yield slice(start, start + length)
