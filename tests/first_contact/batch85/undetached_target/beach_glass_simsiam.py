# expect: pattern = undetached-target
# expect: raises = nothing
# expect: carrier = z1, z2, z
"""Shards of beach glass by their spectra: pretrained without labels, then a linear probe.

Two distorted views of each spectrum, a predictor on one side, symmetric cosine loss.
"""
import math
from dataclasses import dataclass

import torch
import torch.nn.functional as F
from torch import nn, optim


@dataclass
class Config:
    bands: int = 48
    kinds: int = 4
    width: int = 32
    dim: int = 16
    bottleneck: int = 8
    batch: int = 32
    steps: int = 60
    lr: float = 0.1
    seed: int = 29


def spectra(cfg, count, lines):
    kind = torch.randint(0, cfg.kinds, (count,))
    axis = torch.linspace(0, 1, cfg.bands)
    dips = torch.exp(-((axis - lines[kind][..., None]) / 0.05) ** 2).sum(1)
    return 1 - 0.4 * dips, kind


def distort(x):
    gain = 1 + 0.2 * torch.randn(len(x), 1)
    slope = 0.2 * torch.randn(len(x), 1) * torch.linspace(-1, 1, x.shape[1])
    return gain * x + slope + 0.05 * torch.randn_like(x)


class Siamese(nn.Module):
    def __init__(self, cfg):
        super().__init__()
        self.backbone = nn.Sequential(nn.Linear(cfg.bands, cfg.width), nn.BatchNorm1d(cfg.width), nn.ReLU())
        self.projector = nn.Sequential(nn.Linear(cfg.width, cfg.width), nn.ReLU(), nn.Linear(cfg.width, cfg.dim))
        self.predictor = nn.Sequential(
            nn.Linear(cfg.dim, cfg.bottleneck), nn.BatchNorm1d(cfg.bottleneck), nn.ReLU(),
            nn.Linear(cfg.bottleneck, cfg.dim),
        )

    def forward(self, view1, view2):
        z1, z2 = self.projector(self.backbone(view1)), self.projector(self.backbone(view2))  # expect: place
        p1, p2 = self.predictor(z1), self.predictor(z2)
        return p1, p2, z1, z2  # expect: place


def negative_cosine(p, z):
    return -(F.normalize(p, dim=1) * F.normalize(z, dim=1)).sum(1).mean()  # expect: place


def cosine_lr(optimizer, cfg, step):
    for group in optimizer.param_groups:
        group["lr"] = group.get("lr_scale", 1.0) * cfg.lr * 0.5 * (1 + math.cos(math.pi * step / cfg.steps))


def pretrain(cfg, model, lines):
    encoder = [*model.backbone.parameters(), *model.projector.parameters()]
    optimizer = optim.SGD(
        [{"params": encoder}, {"params": model.predictor.parameters(), "lr_scale": 2.0}],
        lr=cfg.lr, momentum=0.9, weight_decay=1e-4,
    )
    for step in range(cfg.steps):
        cosine_lr(optimizer, cfg, step)
        x, _ = spectra(cfg, cfg.batch, lines)
        p1, p2, z1, z2 = model(distort(x), distort(x))
        loss = 0.5 * (negative_cosine(p1, z2) + negative_cosine(p2, z1))  # expect: place
        optimizer.zero_grad()
        loss.backward()
        optimizer.step()
        if step % 15 == 0:
            spread = F.normalize(z1.detach(), dim=1).std(0).mean() * cfg.dim**0.5
            print(f"step {step:2d} loss {loss.item():.3f} spread {spread:.3f}")


def linear_probe(cfg, model, lines):
    """Ridge regression to one-hot labels on the frozen backbone."""
    model.eval()
    with torch.no_grad():
        (x, y), (xt, yt) = spectra(cfg, 128, lines), spectra(cfg, 128, lines)
        h, ht = model.backbone(distort(x)), model.backbone(distort(xt))
        gram = h.T @ h + 0.1 * torch.eye(cfg.width)
        w = torch.linalg.solve(gram, h.T @ F.one_hot(y, cfg.kinds).float())
        return ((ht @ w).argmax(1) == yt).float().mean().item()


if __name__ == "__main__":
    cfg = Config()
    torch.manual_seed(cfg.seed)
    lines = torch.rand(cfg.kinds, 3)
    model = Siamese(cfg)
    pretrain(cfg, model, lines)
    print(f"probe: {linear_probe(cfg, model, lines):.2f}")
