"""Weeks until a wheel of cheese is ripe, from its climate log. Small batches, a step after every fourth."""
import logging

import torch
import torch.nn as nn
from torch.utils.data import DataLoader, TensorDataset, random_split

logging.basicConfig(level=logging.INFO, format="%(message)s")
logger = logging.getLogger("ripening")


class RipenessModel(nn.Module):
    def __init__(self, channels=4, hidden=20, dropout=0.0):
        super().__init__()
        self.tcn = nn.Sequential(
            nn.Conv1d(channels, hidden, 3, padding=1), nn.ReLU(), nn.Dropout(dropout),
            nn.Conv1d(hidden, hidden, 3, padding=2, dilation=2), nn.ReLU(),
        )
        self.head = nn.Linear(hidden, 1)

    def forward(self, log):
        return self.head(self.tcn(log).mean(-1)).squeeze(-1)


class Trainer:
    def __init__(self, model, train_set, valid_set, config):
        self.model, self.config = model, config
        self.train_loader = DataLoader(train_set, batch_size=config["batch_size"], shuffle=True)
        self.valid_loader = DataLoader(valid_set, batch_size=32)
        self.criterion = nn.SmoothL1Loss()
        self.optimizer = torch.optim.SGD(model.parameters(), lr=config["lr"], momentum=0.9)
        self.scheduler = torch.optim.lr_scheduler.ReduceLROnPlateau(self.optimizer, patience=1)
        self.best = float("inf")

    def train_epoch(self):
        self.model.train()
        accumulate = self.config["accumulate"]
        total = 0.0
        self.optimizer.zero_grad()
        for i, (log, weeks) in enumerate(self.train_loader, start=1):
            loss = self.criterion(self.model(log), weeks)
            (loss / accumulate).backward()
            total += loss.item()
            if i % accumulate == 0:
                nn.utils.clip_grad_norm_(self.model.parameters(), self.config["clip"])
                self.optimizer.step()
                self.optimizer.zero_grad()
        return total / len(self.train_loader)

    @torch.no_grad()
    def validate(self):
        self.model.eval()
        errors = [self.criterion(self.model(log), weeks) for log, weeks in self.valid_loader]
        return torch.stack(errors).mean().item()

    def fit(self):
        for epoch in range(1, self.config["epochs"] + 1):
            train_loss = self.train_epoch()
            valid_loss = self.validate()
            self.scheduler.step(valid_loss)
            mark = ""
            if valid_loss < self.best:
                self.best, mark = valid_loss, " *"
            logger.info("epoch %02d  train %.4f  valid %.4f%s", epoch, train_loss, valid_loss, mark)


def climate_logs(n=120, days=30):
    base = torch.randn(n, 4, 1)
    log = base + 0.3 * torch.randn(n, 4, days).cumsum(-1) / days**0.5
    weeks = 2.0 + log[:, 0].mean(-1) - 0.5 * log[:, 1].mean(-1) + 0.1 * torch.randn(n)
    return TensorDataset(log, weeks)


if __name__ == "__main__":
    torch.manual_seed(64)
    cheese = climate_logs()
    train_set, valid_set = random_split(cheese, [96, 24])
    config = {"batch_size": 4, "accumulate": 4, "lr": 0.02, "clip": 10.0, "epochs": 4}
    Trainer(RipenessModel(), train_set, valid_set, config).fit()
