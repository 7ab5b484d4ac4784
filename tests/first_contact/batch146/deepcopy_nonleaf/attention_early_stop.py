# expect: pattern = deepcopy-nonleaf
# expect: raises = RuntimeError: Only Tensors created explicitly by the user
# expect: carrier = attention, penalty, self.attention, self.penalty, pool.penalty, model, self.best
"""Multivariate time-series classification: GRU + multi-hop self-attention pooling."""
import copy
import logging
from dataclasses import dataclass

import torch
from torch import Tensor, nn
from torch.utils.data import DataLoader, TensorDataset

logging.basicConfig(level=logging.INFO, format="%(asctime)s %(message)s")
logger = logging.getLogger("tsc")


@dataclass(frozen=True)
class Config:
    n_channels: int = 5
    n_classes: int = 4
    length: int = 16
    hidden: int = 16
    hops: int = 3
    penalty_weight: float = 0.1
    lr: float = 0.06
    epochs: int = 12
    patience: int = 2
    batch_size: int = 32
    seed: int = 17


class SelfAttentionPool(nn.Module):
    """Several weighted averages over time; keeps its weights for plots and for the penalty."""

    def __init__(self, dim: int, hops: int) -> None:
        super().__init__()
        self.score = nn.Sequential(nn.Linear(dim, dim), nn.Tanh(), nn.Linear(dim, hops, bias=False))
        self.register_buffer("eye", torch.eye(hops))
        self.attention: Tensor | None = None
        self.penalty: Tensor | None = None

    def forward(self, h: Tensor) -> Tensor:
        weights = self.score(h).softmax(dim=1).transpose(1, 2)
        overlap = weights @ weights.transpose(1, 2) - self.eye
        self.attention = weights  # expect: place
        self.penalty = overlap.pow(2).sum(dim=(1, 2)).mean()  # expect: place
        return (weights @ h).flatten(1)


class SeriesClassifier(nn.Module):
    def __init__(self, cfg: Config) -> None:
        super().__init__()
        self.rnn = nn.GRU(cfg.n_channels, cfg.hidden, batch_first=True)
        self.pool = SelfAttentionPool(cfg.hidden, cfg.hops)
        self.head = nn.Linear(cfg.hidden * cfg.hops, cfg.n_classes)

    def forward(self, x: Tensor) -> Tensor:
        h, _ = self.rnn(x)
        return self.head(self.pool(h))


class BestKeeper:
    """Remembers the best model so far and tells when patience has run out."""

    def __init__(self, patience: int) -> None:
        self.patience = patience
        self.best = None
        self.best_loss = float("inf")
        self.bad_epochs = 0

    def update(self, model: nn.Module, loss: float) -> None:
        if loss < self.best_loss - 1e-3:
            self.best = copy.deepcopy(model)  # expect: place
            self.best_loss = loss
            self.bad_epochs = 0
        else:
            self.bad_epochs += 1

    def exhausted(self) -> bool:
        return self.bad_epochs >= self.patience

    def restore(self, model: nn.Module) -> None:
        model.load_state_dict(self.best.state_dict())
        self.bad_epochs = 0


class Trainer:
    def __init__(self, cfg: Config, model: SeriesClassifier) -> None:
        self.cfg = cfg
        self.model = model
        self.criterion = nn.CrossEntropyLoss()
        self.optimizer = torch.optim.Adam(model.parameters(), lr=cfg.lr)
        self.keeper = BestKeeper(cfg.patience)

    def train_epoch(self, loader: DataLoader) -> float:
        self.model.train()
        total = 0.0
        for x, y in loader:
            loss = self.criterion(self.model(x), y)
            loss = loss + self.cfg.penalty_weight * self.model.pool.penalty
            self.optimizer.zero_grad()
            loss.backward()
            self.optimizer.step()
            total += loss.item()
        return total / len(loader)

    def evaluate(self, loader: DataLoader) -> float:
        self.model.eval()
        total = 0.0
        for x, y in loader:
            total += self.criterion(self.model(x), y).item()  # expect: place
        return total / len(loader)

    def fit(self, train: DataLoader, valid: DataLoader) -> None:
        for epoch in range(self.cfg.epochs):
            train_loss = self.train_epoch(train)
            valid_loss = self.evaluate(valid)
            logger.info("epoch %d train %.4f valid %.4f", epoch, train_loss, valid_loss)
            self.keeper.update(self.model, valid_loss)  # expect: place
            if self.keeper.exhausted():
                self.keeper.restore(self.model)
                for group in self.optimizer.param_groups:
                    group["lr"] *= 0.3
                logger.info("back to the best weights, lr %.4f", group["lr"])


def make_loader(cfg: Config, n: int, shuffle: bool) -> DataLoader:
    y = torch.randint(cfg.n_classes, (n,))
    t = torch.linspace(0, 6.28, cfg.length).view(1, -1, 1)
    phase = torch.arange(cfg.n_channels).view(1, 1, -1) * 0.5
    x = torch.sin((y.view(-1, 1, 1) + 1) * t + phase) + 1.5 * torch.randn(n, cfg.length, cfg.n_channels)
    return DataLoader(TensorDataset(x, y), batch_size=cfg.batch_size, shuffle=shuffle)


if __name__ == "__main__":
    config = Config()
    torch.manual_seed(config.seed)
    train_loader = make_loader(config, 96, shuffle=True)
    valid_loader = make_loader(config, 64, shuffle=False)
    Trainer(config, SeriesClassifier(config)).fit(train_loader, valid_loader)
