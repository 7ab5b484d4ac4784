# expect: pattern = none
# expect: raises = nothing
"""Momentum-contrast pretraining on plankton outlines, with a queue of old keys as negatives."""

import copy
import math
from dataclasses import dataclass, field

import torch
import torch.nn as nn
import torch.nn.functional as F


@dataclass
class Config:
    n_points: int = 32
    dim: int = 16
    queue_size: int = 96
    batch: int = 24
    steps: int = 24
    momentum: float = 0.95
    temperature: float = 0.2
    lr: float = 0.05
    seed: int = 99


@dataclass
class Meter:
    """Exponential average of what was logged; holds plain floats only."""

    decay: float = 0.9
    values: dict = field(default_factory=dict)

    def update(self, **tensors):
        for name, t in tensors.items():
            value = t.detach().item()
            old = self.values.get(name, value)
            self.values[name] = self.decay * old + (1 - self.decay) * value

    def __str__(self):
        return "  ".join(f"{k} {v:.3f}" for k, v in self.values.items())


class Outlines:
    """Radius profiles of closed shapes; the two views are turned and noisy copies."""

    def __init__(self, cfg, n=240):
        self.cfg = cfg
        self.generator = torch.Generator().manual_seed(cfg.seed)
        angle = torch.linspace(0, 2 * math.pi, cfg.n_points + 1)[:-1]
        lobes = torch.randint(2, 7, (n, 1), generator=self.generator)
        depth = 0.2 + 0.4 * torch.rand(n, 1, generator=self.generator)
        skew = 0.3 * torch.randn(n, 1, generator=self.generator)
        self.radius = 1 + depth * torch.cos(lobes * angle) + skew * torch.sin(angle)

    def augment(self, r):
        shift = int(torch.randint(self.cfg.n_points, (1,), generator=self.generator))
        out = r.roll(shift, dims=-1)
        out += 0.05 * torch.randn(out.shape, generator=self.generator)
        return out

    def __iter__(self):
        for _ in range(self.cfg.steps):
            idx = torch.randint(len(self.radius), (self.cfg.batch,), generator=self.generator)
            r = self.radius[idx]
            yield {"query": self.augment(r), "key": self.augment(r)}


class Encoder(nn.Module):
    def __init__(self, cfg):
        super().__init__()
        self.conv = nn.Sequential(
            nn.Conv1d(1, 16, 5, padding=2, padding_mode="circular"),
            nn.ReLU(inplace=True),
            nn.Conv1d(16, 32, 5, padding=2, padding_mode="circular"),
            nn.ReLU(inplace=True),
        )
        self.project = nn.Linear(32, cfg.dim)

    def forward(self, r):
        h = self.conv(r.unsqueeze(1)).mean(dim=-1)
        return F.normalize(self.project(h), dim=-1)


class MemoryBank(nn.Module):
    def __init__(self, size, dim):
        super().__init__()
        self.register_buffer("keys", F.normalize(torch.randn(size, dim), dim=-1))
        self.head = 0

    def negatives(self, query):
        return query @ self.keys.T

    @torch.no_grad()
    def enqueue(self, keys):
        slots = (torch.arange(len(keys)) + self.head) % len(self.keys)
        self.keys[slots] = keys
        self.head = (self.head + len(keys)) % len(self.keys)


class MoCo(nn.Module):
    def __init__(self, cfg):
        super().__init__()
        self.cfg = cfg
        self.online = Encoder(cfg)
        self.slow = copy.deepcopy(self.online).requires_grad_(False)
        self.bank = MemoryBank(cfg.queue_size, cfg.dim)

    def forward(self, batch):
        q = self.online(batch["query"])
        with torch.no_grad():
            k = self.slow(batch["key"])
        positive = (q * k).sum(dim=-1, keepdim=True)
        logits = torch.cat([positive, self.bank.negatives(q)], dim=1) / self.cfg.temperature
        return logits, k

    @torch.no_grad()
    def follow(self):
        for p_slow, p in zip(self.slow.parameters(), self.online.parameters()):
            p_slow.mul_(self.cfg.momentum).add_(p, alpha=1 - self.cfg.momentum)


def main():
    cfg = Config()
    torch.manual_seed(cfg.seed)
    model, meter = MoCo(cfg), Meter()
    optimizer = torch.optim.SGD(model.online.parameters(), lr=cfg.lr, momentum=0.9)
    for step, batch in enumerate(Outlines(cfg)):
        logits, keys = model(batch)
        loss = F.cross_entropy(logits, torch.zeros(len(logits), dtype=torch.long))
        optimizer.zero_grad()
        loss.backward()
        optimizer.step()
        model.follow()
        model.bank.enqueue(keys)
        meter.update(loss=loss, top1=(logits.argmax(dim=1) == 0).float().mean())
        if step % 8 == 7:
            print(f"step {step + 1}: {meter}")


if __name__ == "__main__":
    main()
