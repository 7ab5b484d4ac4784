# expect: pattern = undetached-target
# expect: also = forward-outside-loop
# expect: raises = RuntimeError: Trying to backward through the graph a second time
# expect: carrier = target, ahead
"""Bermudan max-call by backward induction.

One network, time is an input. Going back from maturity, the continuation value at t is regressed on
the discounted value at t+1, a few passes over the paths a date.
"""
import math
from typing import NamedTuple

import torch
from torch import Tensor, nn


class Market(NamedTuple):
    spot: float = 1.0
    strike: float = 1.0
    rate: float = 0.05
    dividend: float = 0.10
    vol: float = 0.25
    assets: int = 3
    dates: int = 6
    maturity: float = 2.0

    @property
    def dt(self) -> float:
        return self.maturity / self.dates

    @property
    def discount(self) -> float:
        return math.exp(-self.rate * self.dt)


def simulate(m: Market, n_paths: int) -> Tensor:
    z = torch.randn(m.dates, n_paths, m.assets)
    step = (m.rate - m.dividend - 0.5 * m.vol ** 2) * m.dt + m.vol * math.sqrt(m.dt) * z
    log_s = torch.cat([torch.zeros(1, n_paths, m.assets), step.cumsum(0)])
    return m.spot * log_s.exp()


def payoff(m: Market, s: Tensor) -> Tensor:
    return torch.relu(s.max(-1).values - m.strike)


class Continuation(nn.Module):
    def __init__(self, m: Market, width: int = 32):
        super().__init__()
        self.m = m
        self.net = nn.Sequential(nn.Linear(m.assets + 2, width), nn.SiLU(), nn.Linear(width, width), nn.SiLU(),
                                 nn.Linear(width, 1))

    def forward(self, date: int, s: Tensor) -> Tensor:
        ordered = s.sort(-1, descending=True).values
        t = torch.full((len(s), 1), date / self.m.dates)
        features = torch.cat([ordered.log(), payoff(self.m, s).unsqueeze(1), t], 1)
        return nn.functional.softplus(self.net(features)).squeeze(1)


def value_ahead(m: Market, model: Continuation, date: int, paths: Tensor) -> Tensor:
    """What the option is worth on arrival at the next date."""
    s = paths[date + 1]
    exercise = payoff(m, s)
    if date + 1 == m.dates:
        return exercise
    return torch.maximum(exercise, model(date + 1, s))  # expect: place


def fit_date(m: Market, model, optimizer, date, paths, passes=4, batch=256):
    ahead = value_ahead(m, model, date, paths)  # expect: place
    target = m.discount * ahead  # expect: place
    n = paths.shape[1]
    running = 0.0
    for _ in range(passes):
        for idx in torch.randperm(n).split(batch):
            estimate = model(date, paths[date, idx])
            loss = nn.functional.mse_loss(estimate, target[idx])  # expect: place
            optimizer.zero_grad()
            loss.backward()  # expect: place
            optimizer.step()
            running = 0.9 * running + 0.1 * loss.item()
    return running


def lower_bound(m: Market, model: Continuation, paths: Tensor) -> float:
    """Price of the exercise rule that the network implies, on fresh paths."""
    with torch.no_grad():
        n = paths.shape[1]
        value, alive = torch.zeros(n), torch.ones(n, dtype=torch.bool)
        for date in range(1, m.dates + 1):
            now = payoff(m, paths[date])
            stop = alive & (now > 0)
            if date < m.dates:
                stop = stop & (now >= model(date, paths[date]))
            value[stop] = now[stop] * m.discount ** date
            alive &= ~stop
    return value.mean().item()


if __name__ == "__main__":
    torch.manual_seed(99)
    market = Market()
    model = Continuation(market)
    optimizer = torch.optim.Adam(model.parameters(), lr=4e-3)
    for sweep in range(2):
        paths = simulate(market, 1024)
        fits = [fit_date(market, model, optimizer, d, paths) for d in reversed(range(market.dates))]
        print(f"sweep {sweep}  regression error by date", " ".join(f"{f:.4f}" for f in fits),
              f"  price >= {lower_bound(market, model, simulate(market, 4096)):.4f}")
