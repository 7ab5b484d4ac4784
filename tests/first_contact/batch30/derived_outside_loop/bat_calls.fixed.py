"""Two kinds of bat calls told apart with a learnable band-pass front end."""
import math
from dataclasses import dataclass

import torch
from torch import nn
import torch.nn.functional as F


@dataclass
class Settings:
    n_filters: int = 12
    width: int = 65
    rate: float = 2000.0
    epochs: int = 3
    batch: int = 16
    lr: float = 5e-3
    seed: int = 5


class BandPass(nn.Module):
    """Each filter is the difference of two windowed sincs; only the cut-offs are learnt."""

    def __init__(self, cfg):
        super().__init__()
        edges = torch.linspace(60.0, 0.42 * cfg.rate, cfg.n_filters + 1) / cfg.rate
        self.low = nn.Parameter(edges[:-1].clone())
        self.band = nn.Parameter(edges[1:] - edges[:-1])
        n = torch.arange(cfg.width) - (cfg.width - 1) / 2
        self.register_buffer("n", n)
        self.register_buffer("window", torch.hamming_window(cfg.width, periodic=False))

    def kernels(self):
        low = self.low.abs().unsqueeze(1)
        high = (low + self.band.abs().unsqueeze(1)).clamp(max=0.5)
        def sinc(f):
            return 2 * f * torch.sinc(2 * f * self.n)
        k = (sinc(high) - sinc(low)) * self.window
        k = k / k.norm(dim=1, keepdim=True)
        return k.unsqueeze(1)


class Head(nn.Module):
    def __init__(self, cfg):
        super().__init__()
        self.norm = nn.BatchNorm1d(cfg.n_filters)
        self.out = nn.Linear(cfg.n_filters, 2)

    def forward(self, bands):
        energy = torch.log(bands.pow(2).mean(-1) + 1e-5)
        return self.out(self.norm(energy))


def make_calls(n, cfg):
    t = torch.arange(400) / cfg.rate
    y = torch.randint(0, 2, (n,))
    start = torch.where(y == 0, 300.0, 340.0).unsqueeze(1) + 15 * torch.randn(n, 1)
    sweep = torch.where(y == 0, 500.0, 900.0).unsqueeze(1)
    x = torch.sin(2 * math.pi * (start * t + 0.5 * sweep * t ** 2)) + 0.5 * torch.randn(n, len(t))
    return x.unsqueeze(1), y


def run_epoch(front, head, x, y, opt, cfg):
    head.train()
    order = torch.randperm(len(x))
    seen, right, running = 0, 0, 0.0
    for idx in order.split(cfg.batch):
        bands = F.conv1d(x[idx], front.kernels(), stride=2)
        logits = head(bands)
        loss = F.cross_entropy(logits, y[idx])
        opt.zero_grad()
        loss.backward()
        opt.step()
        running += loss.item() * len(idx)
        right += (logits.argmax(1) == y[idx]).sum().item()
        seen += len(idx)
    return running / seen, right / seen


def main():
    cfg = Settings()
    torch.manual_seed(cfg.seed)
    x, y = make_calls(64, cfg)
    front, head = BandPass(cfg), Head(cfg)
    opt = torch.optim.Adam([
        {"params": front.parameters(), "lr": cfg.lr * 0.1},
        {"params": head.parameters(), "lr": cfg.lr},
    ])
    for epoch in range(cfg.epochs):
        loss, acc = run_epoch(front, head, x, y, opt, cfg)
        print(f"epoch {epoch}  loss {loss:.3f}  acc {acc:.2f}")


if __name__ == "__main__":
    main()
