# expect: pattern = inplace-state
# expect: also = inplace-view
# expect: raises = RuntimeError: one of the variables needed for gradient computation has been modified by an inplace operation
# expect: carrier = series, window
from dataclasses import dataclass

import numpy as np
import torch
import torch.nn as nn


@dataclass
class Config:
    lookback: int = 24
    horizon: int = 6
    hidden: int = 32
    batch: int = 32
    steps: int = 25
    lr: float = 3e-3
    seed: int = 3


def synth_load(hours, rng):
    """Hourly load of a substation: daily and weekly cycle plus noise, standardised."""
    t = np.arange(hours)
    load = 5 + 2 * np.sin(2 * np.pi * t / 24) + 0.7 * np.sin(2 * np.pi * t / 168) + 0.3 * rng.standard_normal(hours)
    return ((load - load.mean()) / load.std()).astype(np.float32)


def make_batch(load, cfg, rng):
    total = cfg.lookback + cfg.horizon
    starts = rng.integers(0, len(load) - total, size=cfg.batch)
    rows = np.stack([load[s:s + total] for s in starts])
    rows = torch.from_numpy(rows)
    return rows[:, :cfg.lookback], rows[:, cfg.lookback:]


class OneStep(nn.Module):
    def __init__(self, lookback, hidden):
        super().__init__()
        self.net = nn.Sequential(nn.Linear(lookback, hidden), nn.Tanh(), nn.Linear(hidden, 1))

    def forward(self, window):
        # persistence plus a learned correction
        return window[:, -1] + self.net(window).squeeze(1)


def roll_out(model, past, horizon):
    """Forecast `horizon` hours; every forecast becomes an input of the next ones."""
    lookback = past.shape[1]
    series = past  # expect: place
    for h in range(horizon):
        window = series[:, -lookback:]  # expect: place
        series = torch.cat([series, model(window)[:, None]], dim=1)  # expect: place
    return series[:, lookback:]


def pinball(pred, target, q=0.6):
    err = target - pred
    return torch.maximum(q * err, (q - 1) * err).mean()


def train(cfg):
    rng = np.random.default_rng(cfg.seed)
    torch.manual_seed(cfg.seed)
    load = synth_load(24 * 60, rng)
    model = OneStep(cfg.lookback, cfg.hidden)
    optimizer = torch.optim.AdamW(model.parameters(), lr=cfg.lr)

    for step in range(cfg.steps):
        past, future = make_batch(load, cfg, rng)
        forecast = roll_out(model, past, cfg.horizon)
        loss = pinball(forecast, future)
        optimizer.zero_grad(set_to_none=True)
        loss.backward()  # expect: place
        nn.utils.clip_grad_norm_(model.parameters(), 1.0)
        optimizer.step()
        if step % 8 == 0:
            print(f"{step:03d} pinball {loss.item():.4f}")

    model.eval()
    with torch.no_grad():
        past, future = make_batch(load, cfg, rng)
        mae = (roll_out(model, past, cfg.horizon) - future).abs().mean(dim=0)
    print("MAE per hour:", [round(v, 3) for v in mae.tolist()])


if __name__ == "__main__":
    train(Config())
