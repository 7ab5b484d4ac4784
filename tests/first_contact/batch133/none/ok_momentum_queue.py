# expect: pattern = none
# expect: raises = nothing
"""Contrastive pretraining with a momentum encoder, a queue of keys and accumulated gradients."""
import copy
from dataclasses import dataclass

import torch
import torch.nn.functional as F
from torch import nn


@dataclass
class MoCoConfig:
    in_dim: int = 20
    dim: int = 12
    queue_size: int = 96
    momentum: float = 0.95
    temperature: float = 0.2
    batch: int = 16
    accumulate: int = 2
    steps: int = 12


class Encoder(nn.Module):
    def __init__(self, cfg):
        super().__init__()
        self.trunk = nn.Sequential(nn.Linear(cfg.in_dim, 40), nn.BatchNorm1d(40), nn.ReLU(inplace=True))
        self.project = nn.Linear(40, cfg.dim)

    def forward(self, x):
        return F.normalize(self.project(self.trunk(x)), dim=1)


class MoCo(nn.Module):
    def __init__(self, cfg):
        super().__init__()
        self.cfg = cfg
        self.query_encoder = Encoder(cfg)
        self.key_encoder = copy.deepcopy(self.query_encoder)
        self.key_encoder.requires_grad_(False)
        self.register_buffer("queue", F.normalize(torch.randn(cfg.queue_size, cfg.dim), dim=1))
        self.register_buffer("cursor", torch.zeros((), dtype=torch.long))

    @torch.no_grad()
    def follow(self):
        for q, k in zip(self.query_encoder.parameters(), self.key_encoder.parameters()):
            k.mul_(self.cfg.momentum).add_(q, alpha=1 - self.cfg.momentum)

    @torch.no_grad()
    def enqueue(self, keys):
        at = int(self.cursor)
        self.queue[at:at + len(keys)] = keys
        self.cursor.fill_((at + len(keys)) % self.cfg.queue_size)

    def forward(self, view_q, view_k):
        q = self.query_encoder(view_q)
        with torch.no_grad():
            k = self.key_encoder(view_k)
        positive = (q * k).sum(1, keepdim=True)
        negative = q @ self.queue.clone().t()
        logits = torch.cat([positive, negative], dim=1) / self.cfg.temperature
        return logits, k


class Meter:
    def __init__(self):
        self.total, self.count = 0.0, 0

    def add(self, value, n):
        self.total += float(value) * n
        self.count += n

    @property
    def mean(self):
        return self.total / max(1, self.count)


def views(cfg, centres):
    while True:
        x = centres[torch.randint(len(centres), (cfg.batch,))]
        yield tuple(x + 0.3 * torch.randn_like(x) for _ in range(2))


def pretrain(cfg):
    model = MoCo(cfg)
    optimizer = torch.optim.SGD(model.query_encoder.parameters(), lr=0.1, momentum=0.9)
    stream = views(cfg, torch.randn(40, cfg.in_dim))
    loss_meter, hit_meter = Meter(), Meter()
    optimizer.zero_grad()
    for step in range(1, cfg.steps + 1):
        logits, keys = model(*next(stream))
        labels = torch.zeros(len(logits), dtype=torch.long)
        loss = F.cross_entropy(logits, labels)
        (loss / cfg.accumulate).backward()
        model.enqueue(keys)
        loss_meter.add(loss.detach(), len(logits))
        hit_meter.add((logits.argmax(1) == labels).float().mean(), len(logits))
        if step % cfg.accumulate == 0:
            optimizer.step()
            optimizer.zero_grad()
            model.follow()
    return loss_meter.mean, hit_meter.mean


if __name__ == "__main__":
    torch.manual_seed(17)
    loss, accuracy = pretrain(MoCoConfig())
    print(f"loss {loss:.4f} accuracy {accuracy:.3f}")
