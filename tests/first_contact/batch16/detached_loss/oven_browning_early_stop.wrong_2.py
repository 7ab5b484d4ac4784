"""How brown is the crust? A camera over the oven belt, with early stopping on held-out loaves."""
import copy
import logging
import math

import torch
from torch import nn
from torch.utils.data import DataLoader, Dataset

logging.basicConfig(level=logging.INFO, format="%(message)s")
log = logging.getLogger("oven")

CFG = {
    "epochs": 5,
    "batch_size": 16,
    "lr": 3e-3,
    "patience": 3,
    "seed": 17,
}


class Loaves(Dataset):
    """Patches of crust, and minutes that the loaf is ahead of or behind the recipe."""

    def __init__(self, n, generator):
        self.minutes = torch.rand(n, generator=generator) * 6 - 3
        tint = self.minutes.view(n, 1, 1, 1) * torch.tensor([0.3, 0.1, -0.2]).view(1, 3, 1, 1)
        self.patches = tint + 0.1 * torch.randn(n, 3, 12, 12, generator=generator)

    def __len__(self):
        return len(self.minutes)

    def __getitem__(self, i):
        return self.patches[i], self.minutes[i]


class CrustNet(nn.Module):
    def __init__(self):
        super().__init__()
        self.body = nn.Sequential(
            nn.Conv2d(3, 8, 3, stride=2), nn.BatchNorm2d(8), nn.ReLU(),
            nn.Conv2d(8, 12, 3, stride=2), nn.ReLU(),
            nn.AdaptiveAvgPool2d(1), nn.Flatten(),
        )
        self.drop = nn.Dropout(0.1)
        self.head = nn.Linear(12, 1)

    def forward(self, x):
        return self.head(self.drop(self.body(x))).squeeze(-1)


class EarlyStopping:
    def __init__(self, patience):
        self.patience = patience
        self.best, self.bad, self.weights = math.inf, 0, None

    def __call__(self, score, model):
        if score < self.best:
            self.best, self.bad = score, 0
            self.weights = copy.deepcopy(model.state_dict())
        else:
            self.bad += 1
        return self.bad >= self.patience


class Trainer:
    def __init__(self, model, loaders, cfg):
        self.model, self.loaders, self.cfg = model, loaders, cfg
        self.criterion = nn.SmoothL1Loss()
        self.optimizer = torch.optim.AdamW(model.parameters(), lr=cfg["lr"])
        self.scheduler = torch.optim.lr_scheduler.StepLR(self.optimizer, 2, 0.7)
        self.stopper = EarlyStopping(cfg["patience"])

    def train_epoch(self):
        self.model.train()
        total = 0.0
        for patches, minutes in self.loaders["train"]:
            self.optimizer.zero_grad(set_to_none=True)
            loss = self.criterion(self.model(patches), minutes)
            if loss.requires_grad:
                loss.backward()
            nn.utils.clip_grad_norm_(self.model.parameters(), 5.0)
            self.optimizer.step()
            total += loss.item() * len(minutes)
        return total / len(self.loaders["train"].dataset)

    def evaluate(self):
        self.model.eval()
        torch.set_grad_enabled(False)
        total = 0.0
        for patches, minutes in self.loaders["valid"]:
            total += self.criterion(self.model(patches), minutes).item() * len(minutes)
        return total / len(self.loaders["valid"].dataset)

    def fit(self):
        for epoch in range(self.cfg["epochs"]):
            train_loss = self.train_epoch()
            valid_loss = self.evaluate()
            self.scheduler.step()
            log.info("epoch %d  train %.4f  valid %.4f", epoch, train_loss, valid_loss)
            if self.stopper(valid_loss, self.model):
                log.info("no better since %d epochs, stopping", self.cfg["patience"])
                break
        self.model.load_state_dict(self.stopper.weights)


def main():
    torch.manual_seed(CFG["seed"])
    generator = torch.Generator().manual_seed(CFG["seed"])
    loaders = {
        "train": DataLoader(Loaves(64, generator), CFG["batch_size"], shuffle=True),
        "valid": DataLoader(Loaves(32, generator), CFG["batch_size"]),
    }
    trainer = Trainer(CrustNet(), loaders, CFG)
    trainer.fit()
    log.info("best %.4f", trainer.stopper.best)


if __name__ == "__main__":
    main()
