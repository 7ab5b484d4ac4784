# expect: pattern = missing-zero-grad
# expect: raises = nothing
# expect: carrier = opt_graph, optimizers, zero_grad
"""Traffic speed forecasting with a learned sensor graph (adaptive adjacency + gated convolution)."""
import math
from contextlib import contextmanager
from dataclasses import dataclass

import torch
import torch.nn as nn
import torch.nn.functional as F


@dataclass
class Config:
    sensors: int = 10
    window: int = 12
    horizon: int = 3
    channels: int = 12
    batch: int = 32
    steps: int = 72
    lr_net: float = 5e-3
    lr_graph: float = 0.5
    seed: int = 31


class AdaptiveGraph(nn.Module):
    def __init__(self, sensors, rank=4):
        super().__init__()
        self.source = nn.Parameter(torch.randn(sensors, rank))
        self.target = nn.Parameter(torch.randn(sensors, rank))

    def forward(self):
        return torch.softmax(torch.relu(self.source @ self.target.T), dim=1)


class Forecaster(nn.Module):
    def __init__(self, cfg):
        super().__init__()
        self.lift = nn.Linear(cfg.window, 2 * cfg.channels)
        self.own = nn.Linear(cfg.channels, cfg.channels)
        self.neighbours = nn.Linear(cfg.channels, cfg.channels)
        self.head = nn.Linear(cfg.channels, cfg.horizon)

    def forward(self, speed, adjacency):
        h = F.glu(self.lift(speed), dim=-1)
        mixed = torch.einsum("ij,bjc->bic", adjacency, h)
        return self.head(torch.relu(self.own(h) + self.neighbours(mixed)))


def simulate(cfg, length=400):
    t = torch.arange(length, dtype=torch.float32)
    lag = 2 * torch.arange(cfg.sensors)
    rush = torch.stack([torch.sin(2 * math.pi * (t - d) / 48) for d in lag.tolist()], dim=1)
    return rush + 0.1 * torch.randn(length, cfg.sensors)


class Runner:
    def __init__(self, cfg):
        self.cfg = cfg
        self.graph = AdaptiveGraph(cfg.sensors)
        self.net = Forecaster(cfg)
        self.opt_net = torch.optim.Adam(self.net.parameters(), lr=cfg.lr_net)
        self.opt_graph = torch.optim.SGD(self.graph.parameters(), lr=cfg.lr_graph, momentum=0.8)
        self.series = simulate(cfg)

    def sample(self):
        span = self.cfg.window + self.cfg.horizon
        start = torch.randint(0, len(self.series) - span, (self.cfg.batch,))
        block = torch.stack([self.series[s : s + span] for s in start.tolist()]).transpose(1, 2)
        return block[..., : self.cfg.window], block[..., self.cfg.window :]

    @contextmanager
    def update(self):
        """clears, yields for forward and backward, then clips and steps"""
        self.net.zero_grad()  # expect: place
        yield
        nn.utils.clip_grad_norm_(self.net.parameters(), 1.0)
        self.opt_net.step()
        self.opt_graph.step()  # expect: place

    def run(self):
        for step in range(self.cfg.steps):
            past, future = self.sample()
            with self.update():
                loss = F.l1_loss(self.net(past, self.graph()), future)
                loss.backward()  # expect: place
            if step % 12 == 0:
                strongest = self.graph().detach().max(dim=1).values.mean().item()
                print(f"step {step:3d} mae {loss.item():.4f} strongest link {strongest:.3f}")


if __name__ == "__main__":
    config = Config()
    torch.manual_seed(config.seed)
    Runner(config).run()
