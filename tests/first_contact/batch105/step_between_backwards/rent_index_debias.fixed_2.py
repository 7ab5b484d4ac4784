"""A rent index that does not tell where the tenants come from.

The statistics office fits rents by a small network; an auditor tries to read the protected
attribute off the fitted rent, and the index is punished for whatever the auditor can read.
"""
from collections import deque
from dataclasses import dataclass

import torch
from torch import nn
from torch.nn.functional import binary_cross_entropy_with_logits, mse_loss


@dataclass
class Config:
    flats: int = 900
    batch: int = 60
    epochs: int = 8
    lr: float = 5e-3
    lr_audit: float = 1e-2
    alpha: float = 0.8
    warm: int = 1  # epochs without the auditor's punishment
    seed: int = 3


def survey(cfg):
    gen = torch.Generator().manual_seed(cfg.seed)
    group = (torch.rand(cfg.flats, generator=gen) < 0.35).float()
    size = 40 + 50 * torch.rand(cfg.flats, generator=gen) - 8 * group
    year = torch.rand(cfg.flats, generator=gen)
    street = torch.randn(cfg.flats, generator=gen) - 1.2 * group
    rent = 0.02 * size + 0.6 * year + 0.25 * street + 0.2 * torch.randn(cfg.flats, generator=gen)
    x = torch.stack([size / 25, year, street], 1)
    return x, rent - rent.mean(), group


def index_net():
    return nn.Sequential(nn.Linear(3, 32), nn.ReLU(), nn.Linear(32, 1))


def auditor_net():
    return nn.Sequential(nn.Linear(1, 16), nn.Tanh(), nn.Linear(16, 1))


def chunks(n, size):
    return torch.randperm(n).split(size)


def gap(index, x, group):
    """Mean difference of the fitted rents between the groups."""
    with torch.no_grad():
        fitted = index(x).squeeze(1)
    return (fitted[group == 1].mean() - fitted[group == 0].mean()).item()


def run(cfg):
    torch.manual_seed(cfg.seed)
    x, rent, group = survey(cfg)
    held = slice(0, 200)
    kept = slice(200, None)
    index, auditor = index_net(), auditor_net()
    opt_index = torch.optim.Adam(index.parameters(), lr=cfg.lr)
    opt_critic = torch.optim.Adam(auditor.parameters(), lr=cfg.lr_audit)
    leaks = deque(maxlen=20)

    def step(rows, alpha):
        fitted = index(x[kept][rows])
        fit = mse_loss(fitted.squeeze(1), rent[kept][rows])
        leak = binary_cross_entropy_with_logits(auditor(fitted).squeeze(1), group[kept][rows])

        opt_critic.zero_grad()
        opt_index.zero_grad()
        leak.backward(retain_graph=True, inputs=list(auditor.parameters()))
        objective = fit - alpha * leak
        objective.backward(inputs=list(index.parameters()))
        opt_critic.step()
        opt_index.step()
        leaks.append(leak.item())
        return fit.item()

    count = cfg.flats - 200
    for epoch in range(cfg.epochs):
        alpha = 0.0 if epoch < cfg.warm else cfg.alpha
        fits = [step(rows, alpha) for rows in chunks(count, cfg.batch)]
        print(f"epoch {epoch}  fit {sum(fits) / len(fits):.4f}  audit {sum(leaks) / len(leaks):.4f}  "
              f"gap {gap(index, x[held], group[held]):+.3f}")
    return index, auditor


if __name__ == "__main__":
    run(Config())
