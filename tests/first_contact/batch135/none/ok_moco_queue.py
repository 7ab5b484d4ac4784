# expect: pattern = none
# expect: raises = nothing
"""Contrastive pretraining on accelerometer windows: momentum encoder and a queue of keys."""

import copy
from dataclasses import dataclass

import torch
import torch.nn as nn
import torch.nn.functional as F


@dataclass
class PretrainConfig:
    channels: int = 3
    length: int = 32
    width: int = 16
    embedding: int = 8
    queue: int = 64
    batch_size: int = 16
    temperature: float = 0.2
    momentum: float = 0.95
    lr: float = 0.05
    steps: int = 12
    log_every: int = 4


class ConvEncoder(nn.Module):
    def __init__(self, cfg):
        super().__init__()
        self.net = nn.Sequential(
            nn.Conv1d(cfg.channels, cfg.width, 5, stride=2),
            nn.ReLU(inplace=True),
            nn.Conv1d(cfg.width, cfg.width, 3, stride=2),
            nn.ReLU(inplace=True),
            nn.AdaptiveAvgPool1d(1),
            nn.Flatten(),
            nn.Linear(cfg.width, cfg.embedding),
        )

    def forward(self, windows):
        return F.normalize(self.net(windows), dim=1)


class MomentumContrast(nn.Module):
    def __init__(self, cfg):
        super().__init__()
        self.cfg = cfg
        self.query_encoder = ConvEncoder(cfg)
        self.key_encoder = copy.deepcopy(self.query_encoder).requires_grad_(False)
        self.register_buffer("queue", F.normalize(torch.randn(cfg.queue, cfg.embedding), dim=1))
        self.register_buffer("head", torch.zeros((), dtype=torch.long))

    @torch.no_grad()
    def follow(self):
        for key, query in zip(self.key_encoder.parameters(), self.query_encoder.parameters()):
            key.mul_(self.cfg.momentum).add_(query, alpha=1 - self.cfg.momentum)

    @torch.no_grad()
    def enqueue(self, keys):
        start = int(self.head)
        self.queue[start : start + len(keys)] = keys
        self.head.fill_((start + len(keys)) % self.cfg.queue)

    def forward(self, view_a, view_b):
        queries = self.query_encoder(view_a)
        with torch.no_grad():
            keys = self.key_encoder(view_b)
        positive = (queries * keys).sum(dim=1, keepdim=True)
        negative = queries @ self.queue.clone().t()
        logits = torch.cat([positive, negative], dim=1) / self.cfg.temperature
        return logits, keys


class LossLog:
    def __init__(self, every):
        self.every, self.total, self.values = every, 0.0, []

    def __call__(self, step, loss):
        self.total += loss.item()
        if (step + 1) % self.every == 0:
            self.values.append(self.total / self.every)
            print(f"step {step + 1}: contrastive loss {self.values[-1]:.4f}")
            self.total = 0.0


def views(cfg):
    """Pairs of distorted copies of the same window."""
    t = torch.linspace(0, 6.28, cfg.length)
    while True:
        rhythm = 1 + 3 * torch.rand(cfg.batch_size, cfg.channels, 1)
        clean = (rhythm * t).sin()
        yield tuple(
            (0.8 + 0.4 * torch.rand(cfg.batch_size, 1, 1)) * clean + 0.1 * torch.randn_like(clean)
            for _ in range(2)
        )


def pretrain(cfg):
    model = MomentumContrast(cfg)
    optimizer = torch.optim.SGD(model.query_encoder.parameters(), lr=cfg.lr, momentum=0.9)
    log = LossLog(cfg.log_every)
    for step, (view_a, view_b) in zip(range(cfg.steps), views(cfg)):
        logits, keys = model(view_a, view_b)
        loss = F.cross_entropy(logits, torch.zeros(len(logits), dtype=torch.long))
        optimizer.zero_grad()
        loss.backward()
        optimizer.step()
        model.follow()
        model.enqueue(keys)
        log(step, loss)
    return model


if __name__ == "__main__":
    torch.manual_seed(0)
    pretrain(PretrainConfig())
