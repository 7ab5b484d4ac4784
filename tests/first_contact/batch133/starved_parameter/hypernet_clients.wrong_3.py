"""Personalised load forecasting: a hypernetwork writes every household's output head."""

from dataclasses import dataclass

import torch
import torch.nn as nn
import torch.nn.functional as F


@dataclass
class Config:
    n_homes: int = 12
    n_inputs: int = 10
    n_features: int = 16
    horizon: int = 3
    embedding: int = 6
    rounds: int = 15
    homes_per_round: int = 4
    batch: int = 24
    lr: float = 5e-3
    seed: int = 55


class Household:
    """One home: the same physics everywhere, but its own habits."""

    def __init__(self, cfg, shared, generator):
        self.cfg = cfg
        self.shared = shared
        self.generator = generator
        self.habit = torch.randn(cfg.horizon, cfg.n_inputs, generator=generator)

    def batch(self):
        x = torch.randn(self.cfg.batch, self.cfg.n_inputs, generator=self.generator)
        noise = 0.1 * torch.randn(self.cfg.batch, self.cfg.horizon, generator=self.generator)
        y = torch.tanh(x @ self.shared) @ self.habit.T + noise
        return x, y


class HyperNetwork(nn.Module):
    """Maps a home's embedding to the weight and bias of its head."""

    def __init__(self, cfg):
        super().__init__()
        self.shape = (cfg.horizon, cfg.n_features)
        self.homes = nn.Embedding(cfg.n_homes, cfg.embedding)
        self.body = nn.Sequential(nn.Linear(cfg.embedding, 32), nn.ReLU())
        self.to_weight = nn.Linear(32, cfg.horizon * cfg.n_features)
        self.to_bias = nn.Linear(32, cfg.horizon)

    def forward(self, home):
        h = self.body(self.homes(home))
        return {"weight": self.to_weight(h).view(self.shape), "bias": self.to_bias(h)}


class Forecaster(nn.Module):
    def __init__(self, cfg):
        super().__init__()
        self.backbone = nn.Sequential(
            nn.Linear(cfg.n_inputs, cfg.n_features), nn.Tanh(),
            nn.Linear(cfg.n_features, cfg.n_features), nn.Tanh(),
        )
        self.head = nn.Linear(cfg.n_features, cfg.horizon)

    def set_head(self, params):
        self.head.load_state_dict(params)

    def forward(self, x):
        return self.head(self.backbone(x))


class PersonalisedTrainer:
    def __init__(self, cfg, homes):
        self.cfg = cfg
        self.homes = homes
        self.picker = torch.Generator().manual_seed(cfg.seed + 1)
        self.hyper = HyperNetwork(cfg)
        self.model = Forecaster(cfg)
        self.optimizer = torch.optim.Adam(
            [
                {"params": self.hyper.parameters()},
                {"params": self.model.backbone.parameters(), "lr": cfg.lr / 2},
            ],
            lr=cfg.lr,
        )

    def home_loss(self, index):
        x, y = self.homes[index].batch()
        params = self.hyper(torch.tensor(index))
        self.model.set_head(params)
        return F.smooth_l1_loss(self.model(x), y)

    def round(self):
        order = torch.randperm(self.cfg.n_homes, generator=self.picker)
        chosen = order[: self.cfg.homes_per_round].tolist()
        self.optimizer.zero_grad()
        total = 0.0
        for index in chosen:
            loss = self.home_loss(index) / len(chosen)
            loss.backward()
            total += loss.item()
        self.optimizer.step()
        return total

    @torch.no_grad()
    def evaluate(self):
        return sum(self.home_loss(index).item() for index in range(self.cfg.n_homes)) / self.cfg.n_homes


def main():
    cfg = Config()
    torch.manual_seed(cfg.seed)
    generator = torch.Generator().manual_seed(cfg.seed)
    shared = torch.randn(cfg.n_inputs, cfg.n_inputs, generator=generator) / cfg.n_inputs**0.5
    trainer = PersonalisedTrainer(cfg, [Household(cfg, shared, generator) for _ in range(cfg.n_homes)])
    print(f"start: {trainer.evaluate():.4f}")
    for number in range(cfg.rounds):
        loss = trainer.round()
        if number % 5 == 4:
            print(f"round {number + 1}: train {loss:.4f}  all homes {trainer.evaluate():.4f}")


if __name__ == "__main__":
    main()
