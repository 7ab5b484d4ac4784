"""MoCo-style pretraining on small chest patches, with an optional input-smoothness term."""
import copy
from dataclasses import dataclass

import numpy as np
import torch
import torch.nn.functional as F
from torch import nn


@dataclass(frozen=True)
class MocoConfig:
    size: int = 16
    dim: int = 16
    queue: int = 96
    batch: int = 24
    steps: int = 20
    temperature: float = 0.2
    momentum: float = 0.97
    smooth_weight: float = 0.05
    lr: float = 0.03


def patches(n, size, rng):
    yy, xx = np.mgrid[:size, :size] / size
    out = []
    for _ in range(n):
        angle, freq = rng.uniform(0, np.pi), rng.uniform(2, 8)
        ribs = np.sin(2 * np.pi * freq * (np.cos(angle) * xx + np.sin(angle) * yy))
        out.append(ribs * np.exp(-((xx - 0.5) ** 2 + (yy - 0.5) ** 2) / 0.3))
    return torch.from_numpy(np.stack(out).astype(np.float32)).unsqueeze(1)


def augment(x):
    x = x + 0.15 * torch.randn_like(x)
    if torch.rand(()) < 0.5:
        x = x.flip(-1)
    x *= 0.8 + 0.4 * torch.rand(len(x), 1, 1, 1)
    return x


def conv_encoder(dim):
    return nn.Sequential(
        nn.Conv2d(1, 12, 3, stride=2, padding=1), nn.ReLU(inplace=True),
        nn.Conv2d(12, 24, 3, stride=2, padding=1), nn.ReLU(inplace=True),
        nn.AdaptiveAvgPool2d(2), nn.Flatten(), nn.Linear(96, dim))


class MoCo(nn.Module):
    def __init__(self, cfg):
        super().__init__()
        self.cfg = cfg
        self.query = conv_encoder(cfg.dim)
        self.key = copy.deepcopy(self.query)
        for p in self.key.parameters():
            p.requires_grad_(False)
        self.register_buffer("bank", F.normalize(torch.randn(cfg.dim, cfg.queue), dim=0))
        self.ptr = 0

    @torch.no_grad()
    def momentum_update(self):
        for pk, pq in zip(self.key.parameters(), self.query.parameters()):
            pk.mul_(self.cfg.momentum).add_(pq, alpha=1 - self.cfg.momentum)

    @torch.no_grad()
    def enqueue(self, keys):
        n = keys.shape[0]
        self.bank[:, self.ptr:self.ptr + n] = keys.T
        self.ptr = (self.ptr + n) % self.cfg.queue

    def forward(self, view_q, view_k):
        q = F.normalize(self.query(view_q), dim=1)
        with torch.no_grad():
            self.momentum_update()
            k = F.normalize(self.key(view_k), dim=1)
        positive = (q * k).sum(dim=1, keepdim=True)
        negative = q @ self.bank.clone()
        logits = torch.cat([positive, negative], dim=1) / self.cfg.temperature
        return logits, k


def input_smoothness(model, x):
    """How fast the positive score moves with the input image."""
    x = x.clone().requires_grad_(True)
    score = model.query(x).pow(2).sum()
    grad, = torch.autograd.grad(score, x, create_graph=True)
    return grad.pow(2).sum(dim=(1, 2, 3)).mean()


def pretrain(cfg, seed=8):
    torch.manual_seed(seed)
    rng = np.random.default_rng(seed)
    images = patches(192, cfg.size, rng)
    model = MoCo(cfg)
    opt = torch.optim.SGD(model.query.parameters(), lr=cfg.lr, momentum=0.9, weight_decay=1e-4)
    sched = torch.optim.lr_scheduler.CosineAnnealingLR(opt, cfg.steps)
    best, best_state, curve = float("inf"), None, []
    for step in range(cfg.steps):
        batch = images[torch.randint(0, len(images), (cfg.batch,))]
        view_q, view_k = augment(batch), augment(batch)
        logits, keys = model(view_q, view_k)
        contrast = F.cross_entropy(logits, torch.zeros(cfg.batch, dtype=torch.long))
        loss = contrast
        if step % 4 == 0:
            loss = loss + cfg.smooth_weight * input_smoothness(model, view_q)
        opt.zero_grad(set_to_none=True)
        loss.backward()
        opt.step()
        sched.step()
        model.enqueue(keys)
        curve.append(contrast.item())
        if step * cfg.batch >= cfg.queue and curve[-1] < best:
            best, best_state = curve[-1], copy.deepcopy(model.query.state_dict())
        if step % 5 == 0:
            print(f"step {step:2d} contrast {curve[-1]:.3f} best {best:.3f}")
    model.query.load_state_dict(best_state)
    return model, curve


if __name__ == "__main__":
    pretrain(MocoConfig())
