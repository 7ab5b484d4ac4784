# expect: pattern = detached-loss
# expect: raises = RuntimeError: element 0 of tensors does not require grad and does not have a grad_fn
# expect: carrier = loss, logits, set_grad_enabled
"""Street trees from macro photos of their bark: small convnet, label smoothing, early stopping."""
import copy
from dataclasses import dataclass, field

import torch
import torch.nn as nn
import torch.nn.functional as F

SPECIES = ("plane", "lime", "birch", "robinia")


@dataclass
class Config:
    epochs: int = 6
    batch: int = 32
    lr: float = 5e-3
    smoothing: float = 0.05
    patience: int = 3
    seed: int = 78


@dataclass
class History:
    train: list = field(default_factory=list)
    valid: list = field(default_factory=list)
    best: float = -1.0
    stale: int = 0

    def better(self, score):
        self.valid.append(score)
        improved = score > self.best
        self.best = max(self.best, score)
        self.stale = 0 if improved else self.stale + 1
        return improved


def bark(n, size=12):
    """Plates, ridges, horizontal lenticels, deep furrows; all under changing light."""
    y = torch.randint(0, 4, (n,))
    rows = torch.arange(size).view(1, size, 1).expand(n, size, size).float()
    cols = torch.arange(size).view(1, 1, size).expand(n, size, size).float()
    shift = 6.28 * torch.rand(n, 1, 1)
    textures = torch.stack([
        torch.sin(rows * 1.1 + shift) * torch.sin(cols * 1.1 + shift),
        torch.sin(cols * 1.6 + shift),
        torch.sin(rows * 1.6 + shift),
        torch.sin((cols + rows) * 0.9 + shift),
    ], 1)
    x = textures[torch.arange(n), y] + 0.9 * torch.randn(n, size, size) + torch.rand(n, 1, 1)
    return x.unsqueeze(1), y


def conv_block(c_in, c_out):
    return nn.Sequential(nn.Conv2d(c_in, c_out, 3, padding=1), nn.BatchNorm2d(c_out), nn.ReLU(), nn.MaxPool2d(2))


class Runner:
    def __init__(self, cfg, train, valid):
        self.cfg, self.train_set, self.valid_set = cfg, train, valid
        self.net = nn.Sequential(conv_block(1, 8), conv_block(8, 12), nn.Flatten(), nn.Linear(12 * 9, len(SPECIES)))
        self.optimizer = torch.optim.AdamW(self.net.parameters(), lr=cfg.lr, weight_decay=1e-2)
        self.history = History()
        self.kept = None

    def batches(self, data, shuffle):
        x, y = data
        order = torch.randperm(len(x)) if shuffle else torch.arange(len(x))
        for idx in order.split(self.cfg.batch):
            yield x[idx], y[idx]

    def train_epoch(self):
        self.net.train()
        total = 0.0
        for x, y in self.batches(self.train_set, True):
            logits = self.net(x)
            loss = F.cross_entropy(logits, y, label_smoothing=self.cfg.smoothing)  # expect: place
            self.optimizer.zero_grad()
            loss.backward()  # expect: place
            self.optimizer.step()
            total += loss.item() * len(x)
        self.history.train.append(total / len(self.train_set[0]))

    def validate(self):
        self.net.eval()
        torch.set_grad_enabled(False)  # expect: place
        confusion = torch.zeros(4, 4, dtype=torch.long)
        for x, y in self.batches(self.valid_set, False):
            guess = self.net(x).argmax(1)
            confusion += torch.bincount(4 * y + guess, minlength=16).view(4, 4)
        recall = confusion.diag() / confusion.sum(1).clamp(min=1)
        return recall.mean().item()

    def fit(self):
        for epoch in range(self.cfg.epochs):
            self.train_epoch()
            score = self.validate()  # expect: place
            if self.history.better(score):
                self.kept = copy.deepcopy(self.net.state_dict())
            print(f"epoch {epoch}: loss {self.history.train[-1]:.3f}, balanced recall {score:.3f}")
            if self.history.stale >= self.cfg.patience:
                break
        self.net.load_state_dict(self.kept)
        return self.history


if __name__ == "__main__":
    cfg = Config()
    torch.manual_seed(cfg.seed)
    history = Runner(cfg, bark(192), bark(80)).fit()
    print("best", round(history.best, 3))
