"""Variational inference with a masked autoregressive flow: reverse KL to a banana-shaped posterior."""
import math
from dataclasses import dataclass, field
from typing import List, Tuple

import torch
import torch.nn as nn
import torch.nn.functional as F
from torch import Tensor


@dataclass
class FlowConfig:
    dim: int = 3
    hidden: int = 24
    layers: int = 3
    samples: int = 64
    iterations: int = 30
    lr: float = 5e-3
    seed: int = 13
    log_at: List[int] = field(default_factory=lambda: [0, 10, 20, 29])


class MaskedLinear(nn.Linear):
    def __init__(self, in_features: int, out_features: int, mask: Tensor):
        super().__init__(in_features, out_features)
        self.register_buffer("mask", mask)

    def forward(self, x: Tensor) -> Tensor:
        return F.linear(x, self.weight * self.mask, self.bias)


class MADE(nn.Module):
    """Mean and log scale of every coordinate, given the coordinates before it."""

    def __init__(self, dim: int, hidden: int):
        super().__init__()
        deg_in = torch.arange(1, dim + 1)
        deg_h = torch.arange(hidden) % max(dim - 1, 1) + 1
        mask_in = (deg_h[:, None] >= deg_in[None]).float()
        mask_h = (deg_h[:, None] >= deg_h[None]).float()
        mask_out = (deg_in[:, None] > deg_h[None]).float().repeat(2, 1)
        self.fc1 = MaskedLinear(dim, hidden, mask_in)
        self.fc2 = MaskedLinear(hidden, hidden, mask_h)
        self.fc3 = MaskedLinear(hidden, 2 * dim, mask_out)

    def forward(self, x: Tensor) -> Tuple[Tensor, Tensor]:
        h = torch.tanh(self.fc1(x))
        h = torch.tanh(self.fc2(h))
        mu, log_scale = self.fc3(h).chunk(2, dim=1)
        return mu, 2 * torch.tanh(log_scale / 2)


class MAFLayer(nn.Module):
    def __init__(self, dim: int, hidden: int):
        super().__init__()
        self.made = MADE(dim, hidden)

    def log_det_inverse(self, x: Tensor) -> Tuple[Tensor, Tensor]:
        """x -> z in one pass."""
        mu, log_scale = self.made(x)
        return (x - mu) * torch.exp(-log_scale), -log_scale.sum(dim=1)

    def forward(self, z: Tensor) -> Tuple[Tensor, Tensor]:
        """z -> x, one coordinate at a time."""
        x = torch.zeros_like(z).clone()
        log_det = torch.zeros(z.shape[0])
        for i in range(z.shape[1]):
            mu, log_scale = self.made(x)
            x[:, i] = mu[:, i] + z[:, i] * torch.exp(log_scale[:, i])
            log_det = log_det + log_scale[:, i]
        return x, log_det


class Flow(nn.Module):
    def __init__(self, cfg: FlowConfig):
        super().__init__()
        self.dim = cfg.dim
        self.layers = nn.ModuleList(MAFLayer(cfg.dim, cfg.hidden) for _ in range(cfg.layers))

    def base_log_prob(self, z: Tensor) -> Tensor:
        return -0.5 * (z ** 2).sum(1) - 0.5 * self.dim * math.log(2 * math.pi)

    def rsample(self, n: int) -> Tuple[Tensor, Tensor]:
        z = torch.randn(n, self.dim)
        log_q = self.base_log_prob(z)
        for layer in self.layers:
            z, log_det = layer(z)
            log_q = log_q - log_det
            z = z.flip(1)
        return z, log_q

    @torch.no_grad()
    def log_prob(self, x: Tensor) -> Tensor:
        total = torch.zeros(len(x))
        for layer in reversed(self.layers):
            x, log_det = layer.log_det_inverse(x.flip(1))
            total = total + log_det
        return total + self.base_log_prob(x)


def log_posterior(x: Tensor) -> Tensor:
    banana = x[:, 1] - 0.5 * x[:, 0] ** 2 + 1.0
    return -0.5 * (x[:, 0] / 1.5) ** 2 - banana ** 2 - 0.5 * ((x[:, 2:] - 1.0) ** 2).sum(1)


def fit(cfg: FlowConfig) -> Flow:
    torch.manual_seed(cfg.seed)
    flow = Flow(cfg)
    optimizer = torch.optim.Adam(flow.parameters(), lr=cfg.lr)
    scheduler = torch.optim.lr_scheduler.ExponentialLR(optimizer, gamma=0.98)
    for it in range(cfg.iterations):
        x, log_q = flow.rsample(cfg.samples)
        neg_elbo = (log_q - log_posterior(x)).mean()
        optimizer.zero_grad()
        neg_elbo.backward()
        nn.utils.clip_grad_norm_(flow.parameters(), 10.0)
        optimizer.step()
        scheduler.step()
        if it in cfg.log_at:
            gap = (flow.log_prob(x.detach()) - log_q.detach()).abs().max()
            print(f"iter {it:3d}  -ELBO {neg_elbo.item():8.4f}  mean {x.detach().mean(0).tolist()}  gap {gap:.2e}")
    return flow


if __name__ == "__main__":
    fit(FlowConfig())
