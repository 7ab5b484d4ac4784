"""Three targets of a building (heating, cooling, occupancy) with learned task weights."""
from dataclasses import dataclass, field

import numpy as np
import torch
import torch.nn.functional as F
from torch import nn


@dataclass
class Config:
    samples: int = 768
    features: int = 10
    batch: int = 64
    epochs: int = 8
    lr: float = 2e-3
    weight_lr: float = 1e-2
    seed: int = 17
    tasks: list = field(default_factory=lambda: ["heating", "cooling", "occupied"])


class LoadNet(nn.Module):
    def __init__(self, features, width=40):
        super().__init__()
        self.trunk = nn.Sequential(nn.Linear(features, width), nn.SiLU(), nn.Linear(width, width), nn.SiLU())
        self.heating = nn.Linear(width, 1)
        self.cooling = nn.Linear(width, 1)
        self.occupied = nn.Linear(width, 1)

    def forward(self, x):
        h = self.trunk(x)
        return {
            "heating": self.heating(h).squeeze(-1),
            "cooling": self.cooling(h).squeeze(-1),
            "occupied": self.occupied(h).squeeze(-1),
        }


class UncertaintyWeighting(nn.Module):
    """exp(-s) * loss + s for every task, with s learned along with the network."""

    def __init__(self, tasks):
        super().__init__()
        self.tasks = tasks
        self.log_var = nn.Parameter(torch.zeros(len(tasks)))

    def forward(self, outputs, targets):
        parts = []
        for name in self.tasks:
            if name == "occupied":
                parts.append(F.binary_cross_entropy_with_logits(outputs[name], targets[name]))
            else:
                parts.append(F.mse_loss(outputs[name], targets[name]))
        parts = torch.stack(parts)
        return (torch.exp(-self.log_var) * parts + self.log_var).sum(), parts.detach()


def simulate(cfg):
    rng = np.random.default_rng(cfg.seed)
    x = rng.standard_normal((cfg.samples, cfg.features))
    w = rng.standard_normal((cfg.features, 3)) / np.sqrt(cfg.features)
    signal = np.tanh(x @ w) + 0.3 * x[:, :3]
    targets = {
        "heating": 4.0 * signal[:, 0] + rng.standard_normal(cfg.samples),
        "cooling": 0.5 * signal[:, 1] + 0.1 * rng.standard_normal(cfg.samples),
        "occupied": (signal[:, 2] + 0.2 * rng.standard_normal(cfg.samples) > 0).astype(float),
    }
    as_tensor = lambda a: torch.tensor(a, dtype=torch.float32)
    return as_tensor(x), {name: as_tensor(y) for name, y in targets.items()}


class Trainer:
    def __init__(self, cfg):
        self.cfg = cfg
        self.net = LoadNet(cfg.features)
        self.criterion = UncertaintyWeighting(cfg.tasks)
        self.optimizer = torch.optim.Adam([
            {"params": self.net.parameters(), "lr": cfg.lr},
            {"params": self.criterion.parameters(), "lr": cfg.weight_lr},
        ])

    def step(self, x, targets):
        self.optimizer.zero_grad(set_to_none=True)
        loss, parts = self.criterion(self.net(x), targets)
        loss.backward()
        nn.utils.clip_grad_norm_(self.net.parameters(), 5.0)
        self.optimizer.step()
        return parts

    def fit(self, x, targets):
        for epoch in range(self.cfg.epochs):
            seen = torch.zeros(len(self.cfg.tasks))
            batches = torch.randperm(len(x)).split(self.cfg.batch)
            for rows in batches:
                seen += self.step(x[rows], {k: y[rows] for k, y in targets.items()})
            line = ", ".join(f"{n} {v:.3f}" for n, v in zip(self.cfg.tasks, (seen / len(batches)).tolist()))
            weights = torch.exp(-self.criterion.log_var.detach()).tolist()
            print(f"epoch {epoch}: {line} | weights {[round(w, 2) for w in weights]}")


if __name__ == "__main__":
    config = Config()
    torch.manual_seed(config.seed)
    Trainer(config).fit(*simulate(config))
