# expect: pattern = accumulated-loss
# expect: raises = RuntimeError: Trying to backward through the graph a second time
# expect: carrier = cost
"""Parcel volume between depots: one graph a day, predict tomorrow's inflow of every depot.

The optimiser steps once a week on the mean cost of the days in it (the days are tiny).
"""
import math
from collections import deque

import torch
from torch import nn, optim

N_DEPOTS = 14
LAGS = 4
WEEK = 7


def random_network(gen):
    """Weighted adjacency, rows sum to one."""
    place = torch.rand(N_DEPOTS, 2, generator=gen)
    dist = torch.cdist(place, place)
    weight = torch.exp(-(dist / 0.3) ** 2) * (dist < 0.5)
    weight.fill_diagonal_(0.0)
    weight[weight.sum(1) == 0] = 1.0 / N_DEPOTS
    return weight / weight.sum(1, keepdim=True)


def daily_snapshots(network, n_days, gen):
    """Yields (features, adjacency, target) for each day: the last LAGS volumes and two calendar columns."""
    volume = torch.rand(N_DEPOTS, generator=gen)
    past = deque([volume] * LAGS, maxlen=LAGS)
    for day in range(n_days):
        phase = 2 * math.pi * day / WEEK
        closed = (torch.rand(N_DEPOTS, N_DEPOTS, generator=gen) < 0.1).float()
        today = network * (1 - closed)
        calendar = torch.tensor([math.sin(phase), math.cos(phase)]).expand(N_DEPOTS, 2)
        x = torch.cat([torch.stack(list(past), dim=1), calendar], dim=1)
        volume = 0.3 * past[-1] + 0.6 * today @ past[-1] + 0.25 * (1 + math.sin(phase + 0.6))
        volume = volume + 0.02 * torch.randn(N_DEPOTS, generator=gen)
        past.append(volume)
        yield x, today, volume


class DiffusionConv(nn.Module):
    def __init__(self, n_in, n_out, hops=2):
        super().__init__()
        self.taps = nn.ModuleList(nn.Linear(n_in, n_out, bias=(k == 0)) for k in range(hops + 1))

    def forward(self, x, adjacency):
        out = 0
        for tap in self.taps:
            out = out + tap(x)
            x = adjacency @ x
        return out


class VolumeNet(nn.Module):
    def __init__(self, hidden=16):
        super().__init__()
        self.conv = DiffusionConv(LAGS + 2, hidden)
        self.norm = nn.LayerNorm(hidden)
        self.head = nn.Linear(hidden, 1)

    def forward(self, x, adjacency):
        z = torch.relu(self.norm(self.conv(x, adjacency)))
        return x[:, LAGS - 1] + self.head(z).squeeze(1)


def fit(model, days, epochs, lr=1e-2):
    opt = optim.AdamW(model.parameters(), lr=lr, weight_decay=1e-4)
    for epoch in range(1, epochs + 1):
        model.train()
        cost, weekly = 0, []  # expect: place
        for day, (x, adjacency, target) in enumerate(days, start=1):
            pred = model(x, adjacency)
            cost = cost + torch.mean((pred - target) ** 2)  # expect: place
            if day % WEEK:
                continue
            mean_cost = cost / WEEK  # expect: place
            mean_cost.backward()  # expect: place
            nn.utils.clip_grad_norm_(model.parameters(), 1.0)
            opt.step()
            opt.zero_grad()
            weekly.append(mean_cost.item())
            cost = 0
        print("epoch %d  mse %.5f" % (epoch, sum(weekly) / len(weekly)))


def evaluate(model, days):
    model.eval()
    with torch.no_grad():
        errors = [torch.mean((model(x, a) - y) ** 2).item() for x, a, y in days]
        naive = [torch.mean((x[:, LAGS - 1] - y) ** 2).item() for x, a, y in days]
    print("held out: %.5f   (yesterday's volume: %.5f)" % (sum(errors) / len(errors), sum(naive) / len(naive)))


if __name__ == "__main__":
    torch.manual_seed(7)
    gen = torch.Generator().manual_seed(7)
    network = random_network(gen)
    history = list(daily_snapshots(network, 16 * WEEK, gen))
    net = VolumeNet()
    fit(net, history[:14 * WEEK], epochs=5)
    evaluate(net, history[14 * WEEK:])
