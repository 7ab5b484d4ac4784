# expect: pattern = deepcopy-nonleaf
# expect: raises = RuntimeError: Only Tensors created explicitly by the user (graph leaves) support the deepcopy protocol
# expect: carrier = aux_loss, self.aux_loss, balance, self.model, model, best_model, self.best_model
"""Electricity load forecasting with a mixture of linear experts and early stopping."""
import copy
import math

import torch
from torch import nn
from torch.utils.data import DataLoader, TensorDataset


class ExpertLayer(nn.Module):
    """Soft-gated experts; keeps the load balancing term of the last batch."""

    def __init__(self, lookback: int, horizon: int, n_experts: int = 4):
        super().__init__()
        self.gate = nn.Linear(lookback, n_experts)
        self.experts = nn.ModuleList(
            nn.Sequential(nn.Linear(lookback, 32), nn.GELU(), nn.Linear(32, horizon))
            for _ in range(n_experts)
        )
        self.aux_loss = None

    def forward(self, x):
        scores = self.gate(x).softmax(dim=-1)
        outputs = torch.stack([expert(x) for expert in self.experts], dim=1)
        if self.training:
            load = scores.mean(dim=0)
            balance = (load * load).sum() * len(self.experts)
            self.aux_loss = balance  # expect: place
        return (scores.unsqueeze(-1) * outputs).sum(dim=1)


class Forecaster(nn.Module):
    def __init__(self, lookback: int, horizon: int):
        super().__init__()
        self.lookback = lookback
        self.moe = ExpertLayer(lookback, horizon)

    def forward(self, x):
        level = x.mean(dim=1, keepdim=True)
        return self.moe(x - level) + level


def make_series(n=420):
    t = torch.arange(n, dtype=torch.float32)
    daily = torch.sin(2 * math.pi * t / 24)
    weekly = 0.5 * torch.sin(2 * math.pi * t / 168)
    return daily + weekly + 0.4 * torch.randn(n)


def windows(series, lookback, horizon):
    w = series.unfold(0, lookback + horizon, 1)
    return TensorDataset(w[:, :lookback].contiguous(), w[:, lookback:].contiguous())


class Trainer:
    def __init__(self, model, train_set, val_set, lr=1e-2, patience=3, aux_weight=0.05):
        self.model = model
        self.train_loader = DataLoader(train_set, batch_size=32, shuffle=True)
        self.val_loader = DataLoader(val_set, batch_size=64)
        self.optimizer = torch.optim.Adam(model.parameters(), lr=lr)
        self.criterion = nn.MSELoss()
        self.patience, self.aux_weight = patience, aux_weight
        self.best_val, self.bad_epochs = float("inf"), 0
        self.best_model = None

    def train_epoch(self):
        self.model.train()
        running = 0.0
        for x, y in self.train_loader:
            self.optimizer.zero_grad()
            loss = self.criterion(self.model(x), y) + self.aux_weight * self.model.moe.aux_loss
            loss.backward()
            nn.utils.clip_grad_norm_(self.model.parameters(), 1.0)
            self.optimizer.step()
            running += loss.item()
        return running / len(self.train_loader)

    @torch.no_grad()
    def validate(self):
        self.model.eval()
        return sum(self.criterion(self.model(x), y).item() for x, y in self.val_loader)

    def fit(self, max_epochs):
        for epoch in range(max_epochs):
            train_loss, val_loss = self.train_epoch(), self.validate()
            print(f"epoch {epoch:02d} train {train_loss:.4f} val {val_loss:.4f}")
            if val_loss < self.best_val:
                self.best_val, self.bad_epochs = val_loss, 0
                self.best_model = copy.deepcopy(self.model)  # expect: place
            else:
                self.bad_epochs += 1
                if self.bad_epochs >= self.patience:
                    break
        return self.best_model


def refit(model, dataset, steps=4, lr=1e-3):
    """A few gentle steps on the most recent data before deployment."""
    optimizer = torch.optim.SGD(model.parameters(), lr=lr)
    x, y = dataset.tensors
    model.train()
    for _ in range(steps):
        optimizer.zero_grad()
        loss = nn.functional.mse_loss(model(x), y)
        loss.backward()
        optimizer.step()
    return loss.item()


if __name__ == "__main__":
    torch.manual_seed(3)
    series = make_series()
    train_set = windows(series[:300], 48, 12)
    val_set = windows(series[300:], 48, 12)
    trainer = Trainer(Forecaster(48, 12), train_set, val_set)
    best = trainer.fit(max_epochs=15)
    print(f"best val {trainer.best_val:.4f}, after refit {refit(best, val_set):.4f}")
