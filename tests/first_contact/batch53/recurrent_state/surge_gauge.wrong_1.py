"""Storm surge nowcasting at a few tide gauges.

Two time scales: a GRU for the waves/wind response (10 min) and an LSTM that
is stepped once a day for the spring-neap background. The year is fed as
consecutive windows so the states carry over.
"""
import math
from dataclasses import dataclass, field
from typing import Dict, Iterator, Tuple

import torch
from torch import nn


@dataclass
class SurgeConfig:
    n_gauges: int = 4
    window: int = 24
    n_windows: int = 10
    fast_dim: int = 16
    slow_dim: int = 8
    lr: float = 5e-3
    years: int = 3
    seed: int = 7


def make_year(cfg: SurgeConfig) -> Tuple[torch.Tensor, torch.Tensor]:
    t = torch.arange(cfg.window * cfg.n_windows, dtype=torch.float32)
    wind = torch.stack([torch.sin(t / 9.0), torch.cos(t / 5.0), torch.randn_like(t) * 0.3], dim=1)
    phase = torch.linspace(0, math.pi, cfg.n_gauges)
    tide = torch.sin(2 * math.pi * t[:, None] / 12.4 + phase)
    surge = 0.4 * wind[:, :1] + 0.3 * tide * torch.cos(2 * math.pi * t[:, None] / 180.0)
    return wind, surge


def windows(cfg: SurgeConfig, x: torch.Tensor, y: torch.Tensor) -> Iterator[Tuple[int, torch.Tensor, torch.Tensor]]:
    for k in range(cfg.n_windows):
        s = slice(k * cfg.window, (k + 1) * cfg.window)
        yield k, x[s], y[s]


class TwoScaleGauge(nn.Module):
    def __init__(self, cfg: SurgeConfig):
        super().__init__()
        self.fast = nn.GRUCell(3 + cfg.slow_dim, cfg.fast_dim)
        self.slow = nn.LSTMCell(cfg.fast_dim, cfg.slow_dim)
        self.readout = nn.Linear(cfg.fast_dim, cfg.n_gauges)
        self.cfg = cfg
        self.state: Dict[str, object] = {}
        self.reset()

    def reset(self) -> None:
        zeros = torch.zeros
        self.state = {
            "fast": zeros(1, self.cfg.fast_dim),
            "slow": (zeros(1, self.cfg.slow_dim), zeros(1, self.cfg.slow_dim)),
        }

    def cut(self) -> None:
        """Forget how we got here, keep where we are."""
        self.state["fast"] = self.state["fast"].detach()

    def forward(self, x: torch.Tensor) -> torch.Tensor:
        h = self.state["fast"]
        hs, cs = self.state["slow"]
        hs, cs = self.slow(h, (hs, cs))
        levels = []
        for row in x:
            h = self.fast(torch.cat([row[None], hs], dim=1), h)
            levels.append(self.readout(h))
        self.state["fast"] = h
        self.state["slow"] = (hs, cs)
        return torch.cat(levels)


def main() -> None:
    cfg = SurgeConfig()
    torch.manual_seed(cfg.seed)
    wind, surge = make_year(cfg)
    model = TwoScaleGauge(cfg)
    optim = torch.optim.Adam(model.parameters(), lr=cfg.lr)

    for year in range(cfg.years):
        model.reset()
        errors = []
        for k, x, y in windows(cfg, wind, surge):
            model.cut()
            loss = (model(x) - y).pow(2).mean()
            optim.zero_grad()
            loss.backward(retain_graph=True)
            optim.step()
            errors.append(loss.item())
        print(f"year {year}: rmse {math.sqrt(sum(errors) / len(errors)):.4f}")


if __name__ == "__main__":
    main()
